"""z**(-1/3) on [1, 2], and the cube roots of 1/2 and 1/4.

Written by checks/math/generate_f64.py; edit that.
"""

# fmt: off

START = tuple(float.fromhex(word) for word in """
0x1.c713e2847cbe6p+0 -0x1.8dd4bd7d34771p+0 0x1.3a267a3d49ad4p+0 -0x1.2c4b958d54c08p-1 0x1.37ce9e9ed0a1dp-3 -0x1.0e87006cbe6bbp-6
""".split())

THIRDS = tuple(float.fromhex(word) for word in """
0x1.0000000000000p+0 0x1.965fea53d6e3dp-1 0x1.428a2f98d728bp-1
""".split())

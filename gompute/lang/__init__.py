"""What kernel authors write: types, params, operations, and the functions that exist inside kernels.

A kernel module imports on the host as plain Python; nothing here needs a compiler, a driver or NumPy.
"""

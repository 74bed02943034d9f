"""A kernel root that takes long to compile, made from a seed: what benches of whole builds compile.

Every kernel is a map of its own over `f32`: straight lines of multiplications, additions and selections over what earlier lines gave, with
constants that no two kernels share.

Run: python checks/bench/seeded_root.py --kernels 64 > heavy.py
"""

from __future__ import annotations

import argparse
import random
import sys

__all__ = ["kernel_names", "kernel_source", "root_source"]

_HEADER = '"""Made by seeded_root.py."""\n\nimport gompute as g\nfrom gompute import f32\n'


def kernel_names(count: int) -> list[str]:
    """The names of the kernels of a root: `k00`, `k01`, ..."""
    return [f"k{number:02}" for number in range(count)]


def kernel_source(name: str, lines: int, seed: int) -> str:
    """One kernel. Lines alternate between arithmetic and a choice, so that a compiler can neither fold them nor drop them."""
    pick = random.Random(f"{seed} {name}")
    body = ["    v0 = x", f"    v1 = x * {pick.uniform(0.5, 1.5):.6f}"]
    for number in range(2, lines):
        a, b = pick.sample(range(max(0, number - 12), number), 2)
        constant = f"{pick.uniform(0.25, 1.75):.6f}"
        form = pick.choice(("v{a} * {c} + v{b}", "v{a} - v{b} * {c}", "v{a} if v{b} < {c} else v{b} * {c}", "min(v{a}, v{b} + {c})"))
        body.append(f"    v{number} = {form.format(a=a, b=b, c=constant)}")
    total = " + ".join(f"v{number}" for number in range(max(0, lines - 12), lines))
    return f"\n\n@g.map\ndef {name}(x: f32) -> f32:\n" + "\n".join(body) + f"\n    return {total}\n"


def root_source(kernels: int, lines: int = 1000, seed: int = 1) -> str:
    """A module of that many kernels, the same for the same arguments.

    Args:
        lines: of each kernel; time to compile grows faster than they do.
    """
    return _HEADER + "".join(kernel_source(name, lines, seed) for name in kernel_names(kernels))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=64)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    sys.stdout.write(root_source(arguments.kernels, arguments.lines, arguments.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Compiles a root with every function of `gompute.math` for every target of the table.

python checks/math/compile_all.py [TARGET...]
"""

from __future__ import annotations

import sys
from pathlib import Path

from gompute.backends.pipeline import generate
from gompute.frontend import compile_root
from gompute.targets import all_targets, parse_target

ROOT = Path(__file__).resolve().parents[2] / "tests" / "conformance" / "math_kernels.py"


def main() -> int:
    targets = [parse_target(name) for name in sys.argv[1:]] or list(all_targets())
    for number, target in enumerate(targets, 1):
        root = compile_root(ROOT, name="every", imports=None, target=target)
        sizes = [len(generate(unit.ir, unit.kernels, target).blobs[0].data) for unit in root.units]
        print(f"{number} of {len(targets)}: {target.name}: {len(root.kernels)} kernels, {sum(sizes)} bytes", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

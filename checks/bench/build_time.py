"""One small root for one NVIDIA target, from the command line to PTX on disk: gompute build against nvcc, as whole processes, files warm.

Run: python checks/bench/build_time.py
nvcc is the one on PATH, else the one of the `cubin` extra (which needs a C++ compiler for the host, as nvcc always does).
With numba-cuda installed, its ahead-of-time entry point runs too.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
import tempfile
from pathlib import Path

from measure import command_version, interleaved, package_version, print_table, run_process

HERE = Path(__file__).resolve().parent

NUMBA = """
from numba import cuda, float32, uint64
def scale_relu(data, n, scale):
    i = cuda.grid(1)
    if i < n:
        y = data[i] * scale
        data[i] = y if y > 0 else float32(0)
open({output!r}, "w").write(cuda.compile_ptx(scale_relu, (float32[::1], uint64, float32), cc=(8, 9))[0])
"""


def find_nvcc() -> Path:
    """The nvcc to compare with.

    Raises:
        SystemExit: there is none.
    """
    on_path = shutil.which("nvcc")
    if on_path:
        return Path(on_path)
    spec = importlib.util.find_spec("nvidia")
    for place in spec.submodule_search_locations or () if spec else ():
        for nvcc in Path(place).glob("*/bin/nvcc"):
            return nvcc
    raise SystemExit("no nvcc: put one on PATH, or pip install 'gompute[cubin]'")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--limit", type=float, help="exit with 1 when gompute takes more than this times nvcc")
    arguments = parser.parse_args()
    nvcc = find_nvcc()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        build: list[str | Path] = [
            sys.executable,
            "-m",
            "gompute",
            "build",
            "--no-cache",
            HERE / "scale_relu.py",
            "--target",
            "sm_89",
            "-o",
            out / "kernels",
        ]
        contenders = {
            "nvcc -ptx": run_process([nvcc, "-ptx", "-arch=sm_89", HERE / "scale_relu.cu", "-o", out / "nvcc.ptx"]),
            "gompute build": run_process(build),
            "imports alone": run_process([sys.executable, "-c", "import numpy, llvmlite.binding"]),
        }
        if importlib.util.find_spec("numba_cuda"):
            contenders["numba.cuda compile_ptx"] = run_process([sys.executable, "-c", NUMBA.format(output=str(out / "numba.ptx"))])
        seconds = interleaved(contenders, arguments.rounds)
    versions = {
        "nvcc -ptx": command_version([nvcc], -2),
        "gompute build": f"{package_version('gompute')}, {package_version('llvmlite')}",
        "imports alone": f"{package_version('numpy')}, {package_version('llvmlite')}",
        "numba.cuda compile_ptx": package_version("numba-cuda"),
    }
    ratios = print_table(seconds, "nvcc -ptx", versions)
    return int(arguments.limit is not None and ratios["gompute build"] > arguments.limit)


if __name__ == "__main__":
    sys.exit(main())

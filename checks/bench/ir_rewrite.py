"""A large module of another compiler: `rewrite` against llvmlite's own parse and print of it, in time and in memory.

Run: python checks/bench/ir_rewrite.py
Each runs in a process of its own, one after the other in each round; memory is the most that the process held.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import package_version, processor

FUNCTION = """
define internal float @work.{n}(float %x, ptr %p) #0 {{
{lines}  ret float %v{last}
}}

define private ptx_kernel void @kernel.{n}(ptr %p, float %x) #0 {{
  %y = call float @work.{n}(float %x, ptr %p)
  store float %y, ptr %p, align 4
  ret void
}}
"""
LINE = "  %v{i} = fadd float %v{before}, {constant}\n"


def module(size: int) -> str:
    """A module of about `size` bytes in the form of Zig 0.16: every kernel is private, and an alias exports it."""
    lines = "  %v0 = fmul float %x, 2.0\n" + "".join(LINE.format(i=i, before=i - 1, constant=f"{i}.5") for i in range(1, 400))
    one = len(FUNCTION.format(n=0, lines=lines, last=399)) + 60
    count = max(1, size // one)
    aliases = "".join(f"@public_{n} = alias void (ptr, float), ptr @kernel.{n}\n" for n in range(count))
    functions = "".join(FUNCTION.format(n=n, lines=lines, last=399) for n in range(count))
    return f'target triple = "nvptx64-nvidia-cuda"\n\n{aliases}{functions}\nattributes #0 = {{ nounwind "target-cpu"="sm_89" }}\n'


def work(how: str, file: Path) -> None:
    """In a process of its own: do it, and print seconds of the processor and bytes."""
    if how == "rewrite":
        from gompute.ir.rewrite import rewrite

        began = time.process_time()
        rewrite(file.read_bytes(), "module.ll")
    else:
        from llvmlite import binding

        began = time.process_time()
        text = file.read_text()
        context = binding.create_context()
        parsed = binding.parse_assembly(text, context)
        str(parsed)
    print(time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, help="exit with 1 when rewrite takes more than this times parse and print")
    parser.add_argument("--work", nargs=2, metavar=("HOW", "FILE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work[0], Path(arguments.work[1]))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "module.ll")
        file.write_text(module(int(arguments.megabytes * 1e6)))
        size = file.stat().st_size
        found: dict[str, list[tuple[float, float]]] = {"parse and print": [], "rewrite": []}
        for _ in range(arguments.rounds):
            for how, measured in found.items():
                command = [sys.executable, __file__, "--work", how, str(file)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                seconds, held = map(float, done.stdout.split())
                measured.append((seconds, held))
    medians = {how: (statistics.median(s for s, _ in measured), max(m for _, m in measured)) for how, measured in found.items()}
    base = medians["parse and print"][0]
    print(f"{processor()}, {package_version('llvmlite')}, {size / 1e6:.0f} MB\n")
    print("| what | median s of the processor | times parse and print | memory, times the file |\n| --- | ---: | ---: | ---: |")
    for how, (seconds, held) in medians.items():
        print(f"| {how} | {seconds:.2f} | {seconds / base:.2f} | {held / size:.1f} |")
    return int(arguments.limit is not None and medians["rewrite"][0] / base > arguments.limit)


if __name__ == "__main__":
    sys.exit(main())

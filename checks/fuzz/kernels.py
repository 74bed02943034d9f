"""Random kernels, each run as CPU code, as PTX in the tests' interpreter, and by an interpreter of its source: all must give the same bits.

Run: python checks/fuzz/kernels.py [--kernels 2000] [--seed 0]. A kernel is made by the seed and its number alone, so that
`--first 137 --kernels 1` makes that one again. Where ways differ, the kernel is printed with all taken out that does not matter, and the
exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fuzz import comparing, running

BATCH = 25


def _batch(seed: int, first: int, number: int, gpus: tuple[str, ...], whole: bool) -> list[tuple[int, str]]:
    """What differs in one batch, by number."""
    found = comparing.compare(comparing.programs(seed, first, number), seed, gpus)
    if not whole:
        found = [comparing.smallest(each, seed, gpus) for each in found]
    return [(int(each.program.name[1:]), str(each)) for each in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first kernel")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--gpu", action="append", help=f"a target for PTX, any number of times; else {', '.join(running.GPUS)}")
    parser.add_argument("--whole", action="store_true", help="print kernels as they are, not made small")
    given = parser.parse_args()
    gpus = tuple(given.gpu or running.GPUS)
    start, done, different = time.monotonic(), 0, 0
    batches = [(first, min(BATCH, given.first + given.kernels - first)) for first in range(given.first, given.first + given.kernels, BATCH)]
    # Fresh processes: LLVM can end the one that it runs in, and then the batch is known by its number.
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        waiting = {pool.submit(_batch, given.seed, *batch, gpus, given.whole): batch for batch in batches}
        for future in as_completed(waiting):
            first, number = waiting[future]
            try:
                found = future.result()
            except BrokenProcessPool:
                print(f"a process died; one of the kernels at work then, perhaps {first} to {first + number - 1}, ended it", flush=True)
                return 1
            done += number
            different += len(found)
            for each, text in sorted(found):
                print(f"\nkernel {each} of seed {given.seed}: {text}", flush=True)
            print(f"{done} of {given.kernels} kernels, {different} differ, {time.monotonic() - start:.0f} s", flush=True)
    print(f"{done} kernels of seed {given.seed} on {running.CPU}, {', '.join(gpus)} and by their source: {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

"""Long runs of the runtime against the test driver: eight threads for a minute, and ten thousand rounds of load, launch and close.

    python checks/soak/soak.py              # both vendors, about three minutes
    python checks/soak/soak.py --seconds 600 --rounds 100000 --vendor hip

Needs the extras `compiler` (its C compiler builds the driver), `cuda` and `hip`. Fails where the driver finds misuse, a handle is not given
back, or memory grows by more than 1 MiB after the first thousand rounds.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gompute.handles.kernel_set import load
from tests.driver import sets
from tests.driver.build import SOURCES, build_driver, build_kernels
from tests.driver.control import NOTHING, VENDORS, Driver
from tests.runtime.soak import rounds, stress


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--vendor", choices=list(VENDORS), help="one of them; both when left out")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=10_000)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kernels = build_kernels(SOURCES / "kernels.c", folder, folder / "zig")
        targets = [sets.CUDA_TARGET, sets.HIP_TARGET, sets.host_target()]
        kernel_set = load(sets.write(folder / "set", kernels, targets))
        for vendor in [options.vendor] if options.vendor else VENDORS:
            driver = build_driver(vendor, folder, folder / "zig")
            os.environ[VENDORS[vendor].variable] = str(driver)
            gpu = Driver(VENDORS[vendor], driver)
            gpu.reset(kernels)
            grown = rounds(gpu, kernel_set, options.rounds, min(1000, options.rounds // 2))
            steps = stress(gpu, kernel_set, options.seconds, options.threads)
            import_module(f"gompute.runtime.{vendor}").shutdown()
            left = {kind: count for kind, count in gpu.held.items() if count != NOTHING[kind]}
            print(f"{vendor}: {options.rounds} rounds, memory grew by {grown / 1024:.0f} KiB; {steps} steps of {options.threads} threads")
            print("\n".join([*gpu.problems, f"not given back: {left or 'nothing'}"]))
            failed |= bool(gpu.problems or left or grown > 1 << 20)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

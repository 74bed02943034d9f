"""What ``import gompute`` costs, beside NumPy's import and an interpreter that imports nothing. Whole processes, files warm.

Run: python checks/bench/import_time.py
"""

from __future__ import annotations

import argparse
import sys

from measure import interleaved, package_version, print_table, run_process

CODE = {
    "python": "pass",
    "import numpy": "import numpy",
    "import gompute": "import gompute",
    "the runtime too": "import gompute; gompute.Kernel, gompute.load",
    "import llvmlite": "import llvmlite.binding",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    seconds = interleaved({name: run_process([sys.executable, "-c", code]) for name, code in CODE.items()}, rounds)
    versions = {
        "import numpy": package_version("numpy"),
        "import gompute": package_version("gompute"),
        "the runtime too": package_version("gompute"),
        "import llvmlite": package_version("llvmlite"),
    }
    print_table(seconds, "import numpy", versions)


if __name__ == "__main__":
    main()

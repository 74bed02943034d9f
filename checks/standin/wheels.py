"""wheels.py LOCK PYTHON: one line `FILE REQUIREMENT` for each wheel of the lock that an interpreter of that version on x86-64 would get.

The choice is that of poetry2nix/environment.nix beside this file: what is downloaded here is what evaluates there.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def tags(python: str) -> list[str]:
    digits = python.replace(".", "")
    minor = int(python.partition(".")[2])
    return [f"cp{digits}-cp{digits}", *(f"cp3{older}-abi3" for older in range(minor, 5, -1)), "py3-none", r"py2\.py3-none"]


def main(lock: str, python: str) -> None:
    for package in tomllib.loads(Path(lock).read_text(encoding="utf-8"))["package"]:
        if package["name"] == "colorama":  # for Windows
            continue
        found = [
            file
            for tag in tags(python)
            for file in package["files"]
            if re.fullmatch(rf".*-{tag}-(any|.*manylinux.*_x86_64.*)\.whl", file["file"])
        ]
        if not found:
            sys.exit(f"{lock}: no wheel of {package['name']} for Python {python} on x86-64 Linux")
        print(found[0]["file"], f"{package['name']}=={package['version']} --hash={found[0]['hash']}")


main(*sys.argv[1:])

"""link_packages.py OUT SITE BASH PACKAGE...: one environment of links to packages, with the programs of all of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

OUT, SITE, BASH, *PACKAGES = sys.argv[1:]


def link(places: list[Path], into: Path) -> None:
    """A file and a folder that one package has become one link; a folder of several (a namespace such as `nvidia`) is made of its parts."""
    if len(places) == 1 or not places[0].is_dir():
        into.symlink_to(places[0])
        return
    into.mkdir(parents=True, exist_ok=True)
    for name in sorted({name for place in places for name in os.listdir(place)}):
        link([place / name for place in places if (place / name).exists()], into / name)


def link_program(program: Path, into: Path) -> None:
    """As nixpkgs does it: a Python script runs under the environment's interpreter, whatever its first line says."""
    with program.open("rb") as opened:
        first = opened.readline()
    if first.startswith(b"#!") and b"python" in first:
        into.write_text(f'#!{BASH}\nexec {OUT}/bin/python3 {program} "$@"\n')
        into.chmod(0o755)
    else:
        into.symlink_to(program)


site = Path(OUT, SITE)
folders = [Path(package, SITE) for package in PACKAGES if Path(package, SITE).is_dir()]
for name in sorted({name for folder in folders for name in os.listdir(folder)}):
    link([folder / name for folder in folders if (folder / name).exists()], site / name)
for package in PACKAGES:
    for program in sorted(Path(package, "bin").glob("*")):
        link_program(program, Path(OUT, "bin", program.name))

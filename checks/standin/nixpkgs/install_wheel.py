"""install_wheel.py WHEEL OUT SITE PATCHELF LOADER LIBRARIES: unpack a wheel into OUT, its programs made to run from the store."""

from __future__ import annotations

import configparser
import subprocess
import sys
import zipfile
from pathlib import Path

WHEEL, OUT, SITE, PATCHELF, LOADER, LIBRARIES = sys.argv[1:]
SCHEMES = {"purelib": SITE, "platlib": SITE, "scripts": "bin", "data": "."}


def place(name: str) -> Path:
    """Where an entry of the archive goes."""
    top, _, rest = name.partition("/")
    if top.endswith(".data"):
        scheme, _, rest = rest.partition("/")
        return Path(OUT, SCHEMES[scheme], rest)
    return Path(OUT, SITE, name)


def unpack(archive: zipfile.ZipFile) -> None:
    for info in archive.infolist():
        if info.is_dir():
            continue
        file = place(info.filename)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(archive.read(info))
        program = bool((info.external_attr >> 16) & 0o111) or ".data/scripts/" in info.filename
        file.chmod(0o755 if program else 0o644)
        if program:
            relink(file)


def relink(file: Path) -> None:
    """Point a dynamic program to the store's loader; a static one, a script and a library stay as they are."""
    if file.open("rb").read(4) != b"\x7fELF":
        return
    asked = subprocess.run([PATCHELF, "--print-interpreter", str(file)], capture_output=True, check=False)
    if asked.returncode == 0:
        subprocess.run([PATCHELF, "--set-interpreter", LOADER, "--force-rpath", "--set-rpath", LIBRARIES, str(file)], check=True)


def write_entry_points() -> None:
    for file in Path(OUT, SITE).glob("*.dist-info/entry_points.txt"):
        parser = configparser.ConfigParser(delimiters=("=",))
        parser.optionxform = str  # type: ignore[assignment,method-assign]  # names of programs keep their case
        parser.read(file)
        for name, point in parser["console_scripts"].items() if parser.has_section("console_scripts") else ():
            module, _, function = point.partition(":")
            script = Path(OUT, "bin", name)
            script.parent.mkdir(exist_ok=True)
            script.write_text(f"#!/usr/bin/env python3\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n")
            script.chmod(0o755)


with zipfile.ZipFile(WHEEL) as opened:
    unpack(opened)
write_entry_points()

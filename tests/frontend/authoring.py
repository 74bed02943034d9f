"""Kernel modules written by tests: source text to a file, a checked root, or the text of its faults."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gompute.errors import CompileError
from gompute.frontend import RootIR, compile_root
from gompute.targets import parse_target

HEAD = "import gompute as g\nfrom gompute import bf16, f16, f32, f64, fixed, i8, i16, i32, i64, ptr, u8, u16, u32, u64\n"
HEAD_LINES = HEAD.count("\n")


def write(folder: Path, body: str, name: str = "root.py") -> Path:
    """A module with the usual imports on top of `body`."""
    file = folder / name
    file.write_text(HEAD + textwrap.dedent(body))
    return file


def compiled(file: Path, target: str = "x86-64-v3", imports: list[Path] | None = None) -> RootIR:
    return compile_root(file, name=file.stem, imports=imports, target=parse_target(target))


def faults(folder: Path, body: str, target: str = "x86-64-v3") -> str:
    """The whole text of a module's faults, its path shortened to the file's name."""
    file = write(folder, body)
    with pytest.raises(CompileError) as caught:
        compiled(file, target)
    return str(caught.value).replace(f"{folder}/", "")


def only_fault(folder: Path, body: str, target: str = "x86-64-v3") -> tuple[str, str]:
    """The message and the fix of a module's one fault."""
    text = faults(folder, body, target)
    lines = text.splitlines()
    assert "faults in" not in lines[-1], text
    what = lines[0].split(": ", 1)[1]
    fix = lines[-1].strip() if len(lines) == 4 else ""
    return what, fix

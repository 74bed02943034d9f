"""Line tables: what they say, that they name no folder, and that code without them has none."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gompute.backends import ptxas
from gompute.backends.elf import ElfFile
from gompute.backends.pipeline import compile_piece, join_pieces
from gompute.frontend import compile_root
from gompute.targets import FAST, Mode, parse_target

KERNELS = """
import gompute as g
from gompute import f32
from beside import shift


@g.map
def one(x: f32) -> f32:
    y = shift(x)
    return y * 3.0


@g.map
def two(x: f32) -> f32:
    if x > 0:
        return shift(x) / 7.0
    return x - 1.0
"""
BESIDE = "from gompute import f32\n\n\ndef shift(x: f32) -> f32:\n    return x + 1.5\n"
LINED = Mode(lineinfo=True)


def _blob(folder: Path, target: str, mode: Mode, text: str = KERNELS) -> bytes:
    folder.mkdir(exist_ok=True)
    (folder / "kernels.py").write_text(text)
    (folder / "beside.py").write_text(BESIDE)
    parsed = parse_target(target)
    root = compile_root(folder / "kernels.py", name="kernels", imports=None, target=parsed, mode=mode)
    return join_pieces([compile_piece(unit.ir, unit.kernels, parsed, mode=mode) for unit in root.units], parsed).blobs[0].data


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_ptx_names_files_and_lines(tmp_path: Path, target: str) -> None:
    text = _blob(tmp_path / "a", target, LINED).decode()
    files = dict(re.findall(r'^\t\.file\t(\d+) "([^"]*)"$', text, re.MULTILINE))
    assert sorted(files.values()) == ["beside.py", "kernels.py"]
    lines = {(files[file], int(line)) for file, line in re.findall(r"^\t\.loc\t(\d+) (\d+) ", text, re.MULTILINE)}
    assert {("beside.py", 5), ("kernels.py", 10), ("kernels.py", 16), ("kernels.py", 17)} <= lines
    assert "/" not in "".join(files.values())
    ptxas.assemble(text.encode(), target, "the test")  # with line tables, since the text has them


@pytest.mark.parametrize("target", ["gfx90a", "gfx1100", "x86-64-v3", "aarch64"])
def test_objects_name_files_and_lines(tmp_path: Path, target: str) -> None:
    blob = _blob(tmp_path / "a", target, LINED)
    found = ElfFile.parse(blob)
    names = [found.contents(section) for name in (".debug_line", ".debug_line_str") if (section := found.section(name)) is not None]
    assert b"kernels.py\0" in b"".join(names)
    assert b"beside.py\0" in b"".join(names)
    assert str(tmp_path).encode() not in blob
    if shutil.which("readelf") is not None and target == "x86-64-v3":
        (tmp_path / "blob").write_bytes(blob)
        shown = subprocess.run(["readelf", "--debug-dump=decodedline", str(tmp_path / "blob")], capture_output=True, text=True, check=True)
        lines = set(re.findall(r"^(\w+\.py)\s+(\d+)\s+0x", shown.stdout, re.MULTILINE))
        assert {("beside.py", "5"), ("kernels.py", "10"), ("kernels.py", "15")} <= lines


@pytest.mark.parametrize("target", ["sm_75", "gfx1100", "x86-64-v3"])
def test_the_bytes_depend_on_no_folder_and_without_lines_on_no_blank_line(tmp_path: Path, target: str) -> None:
    for mode in (LINED, Mode("debug"), Mode("safe")):
        assert _blob(tmp_path / "a", target, mode) == _blob(tmp_path / "b", target, mode)
    later = "\n" + KERNELS
    assert _blob(tmp_path / "a", target, FAST) == _blob(tmp_path / "b", target, FAST, later)
    assert _blob(tmp_path / "a", target, LINED) != _blob(tmp_path / "b", target, LINED, later)

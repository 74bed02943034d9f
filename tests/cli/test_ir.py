"""`gompute ir`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parent.parent.parent / "checks" / "golden" / "ir"
ZIG = GOLDEN / "zig-0.16-nvptx64.ll"
OLD_LAYOUT = """target datalayout = "e-i64:64-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@g = global i128 0
define ptx_kernel void @k() {
  ret void
}
"""


def test_kernels_lists_name_symbol_and_function(cli: Callable) -> None:
    done = cli("ir", "kernels", ZIG)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "kernel                                       symbol         function\n"
        "raw_scale(ptr addrspace(1), i64, float)      raw_scale      k.scale\n"
        "raw_add(ptr addrspace(1), i64, float)        raw_add        k.add\n"
        "raw_add_again(ptr addrspace(1), i64, float)  raw_add_again  k.add\n"
    ).replace("k.scale", "kernels.scale").replace("k.add", "kernels.add")


def test_rewrite_writes_the_module_and_the_map(cli: Callable, tmp_path: Path) -> None:
    expected = (GOLDEN / "expected" / ZIG.name).read_text()
    done = cli("ir", "rewrite", ZIG)
    assert (done.code, done.out, done.err) == (0, expected, "")
    out, names = tmp_path / "new" / "out.ll", tmp_path / "names.json"
    done = cli("ir", "rewrite", ZIG, "-o", out, "--map", names)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert out.read_text() == expected
    assert json.loads(names.read_text()) == {"raw_scale": "raw_scale", "raw_add": "raw_add", "raw_add_again": "raw_add_again"}


def test_a_bc_file_is_written_and_read(cli: Callable, tmp_path: Path) -> None:
    out = tmp_path / "out.bc"
    assert cli("ir", "rewrite", ZIG, "-o", out).code == 0
    assert out.read_bytes().startswith(b"BC")
    assert cli("ir", "map", out).out == '{\n "raw_add": "raw_add",\n "raw_add_again": "raw_add_again",\n "raw_scale": "raw_scale"\n}\n'


def test_map_goes_to_a_file_too(cli: Callable, tmp_path: Path) -> None:
    out = tmp_path / "names.json"
    done = cli("ir", "map", GOLDEN / "names.ll", "-o", out)
    assert (done.code, done.out) == (0, "")
    assert json.loads(out.read_text()) == json.loads((GOLDEN / "expected" / "names.json").read_text())


def test_prune_keeps_what_is_named(cli: Callable, tmp_path: Path) -> None:
    out, names = tmp_path / "out.ll", tmp_path / "names.json"
    done = cli("ir", "prune", ZIG, "--keep", "raw_add,raw_scale", "-o", out, "--map", names)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert list(json.loads(names.read_text())) == ["raw_add", "raw_scale"]
    assert "raw_add_again" not in out.read_text()


def test_a_warning_goes_to_the_standard_error(cli: Callable, tmp_path: Path) -> None:
    file = tmp_path / "old.ll"
    file.write_text(OLD_LAYOUT)
    done = cli("ir", "rewrite", file)
    assert done.code == 0
    assert done.out.startswith("source_filename = ")
    assert done.err == (
        f"warning: {file}: its data layout 'e-i64:64-v16:16-v32:32-n16:32:64' is not the target's: "
        "the alignment of i128 was 64 and is 128\n"
    )


def test_what_fails_writes_nothing(cli: Callable, tmp_path: Path) -> None:
    out = tmp_path / "out.ll"
    done = cli("ir", "prune", ZIG, "--keep", "raw_ad", "-o", out, "--map", tmp_path / "names.json")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"error: {ZIG}: these kernels to keep are not in the module, which has raw_scale, raw_add, raw_add_again:\n"
        "  raw_ad (near names: raw_add, raw_scale, raw_add_again)\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("prune", ZIG), "Missing option '--keep'"),
        (("rewrite",), "Missing argument 'FILE'"),
        (("rewrite", "nowhere.ll"), "File 'nowhere.ll' does not exist"),
        (("turn", ZIG), "No such command 'turn'"),
    ],
)
def test_wrong_use(cli: Callable, arguments: tuple[object, ...], words: str) -> None:
    done = cli("ir", *arguments)
    assert done.code == 2
    assert words in done.err

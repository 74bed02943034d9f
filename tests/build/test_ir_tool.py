"""`gompute.build.ir_tool` on files that are broken: whatever LLVM does in the child, here it is a result or an error message."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from llvmlite import binding as llvm

from gompute.build.ir_tool import IrResult, run_ir_tool
from gompute.build.zygote import Zygote
from gompute.errors import CompileError

GOLDEN = Path(__file__).resolve().parent.parent.parent / "checks" / "golden" / "ir"
MUTANTS = 80


@pytest.fixture(scope="module")
def compiler() -> Iterator[Zygote]:
    with Zygote.start() as zygote:
        yield zygote


def test_a_module_is_rewritten_in_another_process(compiler: Zygote) -> None:
    made = run_ir_tool(compiler, "rewrite", GOLDEN / "zig-0.16-nvptx64.ll")
    assert made.names == {"raw_add": "raw_add", "raw_add_again": "raw_add_again", "raw_scale": "raw_scale"}
    assert made.data == (GOLDEN / "expected" / "zig-0.16-nvptx64.ll").read_bytes()
    assert run_ir_tool(compiler, "rewrite", GOLDEN / "crlf.ll", form="bitcode").data.startswith(b"BC")
    assert list(run_ir_tool(compiler, "prune", GOLDEN / "debug.ll", keep=["raw_add"]).names) == ["raw_add"]
    assert run_ir_tool(compiler, "kernels", GOLDEN / "crlf.ll") == IrResult(
        ({"public": "public", "symbol": "public", "function": "impl", "signature": "public()"},), (), b""
    )


def test_what_llvm_dies_of_is_an_error_with_its_words(compiler: Zygote, tmp_path: Path) -> None:
    """This LLVM asserts that what an old annotation calls a kernel is a function; here it is an alias."""
    file = tmp_path / "fatal.ll"
    file.write_text(
        'target triple = "nvptx64-nvidia-cuda"\n@a = alias void (), ptr @k\ndefine void @k() {\n  ret void\n}\n'
        '!nvvm.annotations = !{!0}\n!0 = !{ptr @a, !"kernel", i32 1}\n'
    )
    with pytest.raises(CompileError) as caught:
        run_ir_tool(compiler, "rewrite", file)
    first, *words, last = str(caught.value).splitlines()
    assert first == f"{file}: the process in which LLVM reads the module was ended by signal 6 (SIGABRT). It printed:"
    assert any("Assertion" in line for line in words)
    assert last == (
        "  The file is broken, or brings out a fault in LLVM. If another version of LLVM made it, have that one write it again, as text "
        "(.ll)."
    )
    assert run_ir_tool(compiler, "kernels", GOLDEN / "crlf.ll").kernels


def test_a_file_that_cannot_be_read_says_why(compiler: Zygote, tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        run_ir_tool(compiler, "rewrite", tmp_path)
    assert str(caught.value) == f"{tmp_path}: [Errno 21] Is a directory: '{tmp_path}'"


def _mutant(data: bytes, chance: random.Random) -> bytes:
    """The module with one to four things wrong."""
    for _ in range(chance.randint(1, 4)):
        match chance.randrange(5):
            case 0:
                at = chance.randrange(len(data))
                data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
            case 1:
                lines = data.splitlines(keepends=True)
                del lines[chance.randrange(len(lines))]
                data = b"".join(lines) or b" "
            case 2:
                lines = data.splitlines(keepends=True)
                lines.insert(chance.randrange(len(lines)), chance.choice(lines))
                data = b"".join(lines)
            case 3:
                words = re.split(rb"(\W+)", data)
                words[chance.randrange(len(words))] = chance.choice(words)
                data = b"".join(words)
            case 4:
                data = data[: chance.randrange(len(data))] or b" "
    return data


@pytest.mark.parametrize("form", ["text", "bitcode"])
def test_no_mutant_ends_this_process_or_is_called_our_bug(compiler: Zygote, tmp_path: Path, form: str) -> None:
    chance = random.Random(f"mutants of {form}")
    inputs = [path.read_bytes() for path in sorted(GOLDEN.glob("*.ll"))]
    if form == "bitcode":
        inputs = [llvm.parse_assembly(data.decode()).as_bitcode() for data in inputs]
    refused: list[tuple[Path, str]] = []
    for number in range(MUTANTS):
        file = tmp_path / f"{number}.ll"
        file.write_bytes(_mutant(chance.choice(inputs), chance))
        try:
            run_ir_tool(compiler, "rewrite", file)
        except CompileError as error:
            refused.append((file, str(error)))
    assert all(message.startswith(f"{file}: ") for file, message in refused)
    assert len(refused) > MUTANTS // 4

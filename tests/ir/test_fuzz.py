"""Broken files of LLVM IR: whatever is in one, the process that reads it may end and the one that asked for it goes on with words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gompute.build.ir_tool import run_ir_tool
from gompute.build.zygote import Zygote
from gompute.errors import CompileError
from gompute.ir.rewrite import bitcode, rewrite

GOLDEN = Path(__file__).resolve().parent.parent.parent / "checks" / "golden" / "ir"
TEXTS = [path.read_bytes() for path in sorted(GOLDEN.glob("*.ll"))]
BINARIES = [bitcode(rewrite(text, "module").text, "module") for text in TEXTS]

#: What mutations put in: words of LLVM's that mean much, and characters that end things.
WORDS = [
    *(b"alias ", b"ifunc ", b"define ", b"declare ", b"ptx_kernel ", b"amdgpu_kernel ", b"internal ", b"comdat", b"section ", b"prefix "),
    *(b"blockaddress(@k, %1)", b"byval(%0)", b"ptr addrspace(16777215) ", b"[18446744073709551615 x i8] ", b"i8388607 ", b"token "),
    *(b"@", b"%", b"!", b"#0", b'"', b"\\", b"{", b"}", b"(", b")", b"\n", b"\r", b"\0", b"\xff", b"\xc3\xa9", b";", b"= "),
]


@pytest.fixture(scope="module")
def compiler() -> Iterator[Zygote]:
    with Zygote.start() as zygote:
        yield zygote


def _mutated_text(chance: random.Random) -> bytes:
    text = chance.choice(TEXTS)
    for _ in range(chance.choice((1, 1, 2, 4))):
        lines = text.split(b"\n")
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        match chance.randrange(7):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[other])
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                cut = chance.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:cut] + chance.choice(WORDS) + lines[at][cut:]
            case 4:  # one name for another
                names = re.findall(rb'[@%!][-\w.$]+|[@%]"[^"]*"', text)
                text = text.replace(chance.choice(names), chance.choice(names), chance.choice((1, -1)))
                continue
            case 5:  # of another module
                lines.insert(at, chance.choice(chance.choice(TEXTS).split(b"\n")))
            case 6:
                text = text[: chance.randrange(len(text))]
                continue
        text = b"\n".join(lines)
    return text


def _mutated_binary(chance: random.Random) -> bytes:
    data = bytearray(chance.choice(BINARIES))
    for _ in range(chance.choice((1, 2, 8, 64))):
        at = chance.randrange(4, len(data))
        match chance.randrange(4):
            case 0:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                data[at : at + 4] = chance.randbytes(4)
            case 2:
                del data[at : at + 4]
            case 3:
                data[at:at] = data[4:at][-16:]
    return bytes(data[: chance.choice((len(data), len(data), chance.randrange(8, len(data))))])


@pytest.mark.parametrize("seed", range(2))
def test_a_mutated_file_is_read_or_refused_in_words(compiler: Zygote, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    file = tmp_path / "m.ll"
    for number in range(30):
        file.write_bytes(_mutated_binary(chance) if number % 3 == 2 else _mutated_text(chance))
        for action in ("rewrite", "kernels"):
            refusal = None
            try:
                result = run_ir_tool(compiler, action, file, form=chance.choice(("text", "bitcode")))
            except CompileError as error:
                refusal = str(error)
            if refusal is not None:
                assert refusal.startswith(f"{file}: ")
                continue
            assert result.kernels
            if action == "rewrite" and not result.data.startswith(b"BC"):
                file.write_bytes(result.data)
                assert run_ir_tool(compiler, "kernels", file).names == {symbol: symbol for symbol in result.names.values()}

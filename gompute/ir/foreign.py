"""Modules from other compilers: from the bytes of a `.ll` or `.bc` file to LLVM's own printing of them.

LLVM may end the process over a file that is no module, so this belongs into a process that can be spared. A file may be large, and its
module in memory is eight times as large: no text is held here longer than it is needed, nor in two forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from llvmlite import binding as llvm
from llvmlite.binding import ffi

from gompute.errors import CompileError
from gompute.ir.layout import Platform, layout_warnings, platform_of, triple_warnings
from gompute.ir.parse import indented

__all__ = ["Printed", "opened", "printed"]

_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")


class Printed(NamedTuple):
    """A module as LLVM prints it, for the pinned target.

    Attributes:
        warnings: where its meaning may have changed with its target.
    """

    text: str
    platform: Platform
    warnings: tuple[str, ...]


@contextmanager
def opened(handed: list[bytes], where: str) -> Iterator[llvm.ModuleRef]:
    """A module in a context of its own, verified; both end with the `with` block.

    Args:
        handed: the contents of a file, which are taken out of the list, so that they can go.

    Raises:
        CompileError: LLVM cannot read the module or holds it to be wrong.
    """
    context = llvm.create_context()
    try:
        try:
            with _read_as_text(where):
                module = _parsed(handed.pop(), where, context)
        except RuntimeError as error:
            words = indented(error).replace("<string>:", f"{where}:")
            raise CompileError(f"{where}: LLVM cannot read the module\n{words}") from None
        with closing(module):
            try:
                with _read_as_text(where):
                    module.verify()
            except RuntimeError as error:
                raise CompileError(f"{where}: LLVM's verifier refuses the module\n{indented(error)}") from None
            yield module
    finally:
        context.close()


def _parsed(data: bytes, where: str, context: llvm.ContextRef) -> llvm.ModuleRef:
    if data.startswith(_BITCODE):
        return llvm.parse_bitcode(data, context)
    if not data or data.isspace():
        raise CompileError(f"{where}: the file is empty; LLVM IR is text (.ll) or bitcode (.bc)")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        byte = f"byte {error.start} ({data[error.start]:#04x}) begins no UTF-8 character"
        raise CompileError(f"{where}: the file is neither bitcode nor text: {byte}") from None
    if b"\0" in data:
        raise CompileError(f"{where}: there is a zero byte in the text, at {data.index(0)}; a string writes it as \\00")
    return llvm.parse_assembly(_Encoded(data), context)


class _Encoded:
    """A text for the binding, which encodes what it is given."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def encode(self, _: str) -> bytes:
        return self._data


def _printout(module: llvm.ModuleRef) -> str:
    """`str(module)`, but for one of the three copies that there are of the text on the way."""
    with ffi.OutputString() as printout:
        ffi.lib.LLVMPY_PrintModuleToString(module, printout)
        data: bytes = printout.bytes
    return data.decode()


@contextmanager
def _read_as_text(where: str) -> Iterator[None]:
    """LLVM escapes what is no ASCII, but not everywhere, and broken bitcode has anything anywhere."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise CompileError(
            f"{where}: the file is broken: LLVM finds a name in it that is no UTF-8: {error.object[error.start : error.end]!r}"
        ) from None


def printed(handed: list[bytes], where: str) -> Printed:
    """Read a module, and bring its triple and data layout to those of the pinned target.

    Args:
        handed: as of `opened`.
        where: the file's name, for messages.

    Raises:
        CompileError: it cannot be read, is wrong, or is for no GPU.
    """
    with opened(handed, where) as module, _read_as_text(where):
        triple, layout = module.triple, module.data_layout
        platform = platform_of(triple, where)
        module.triple = platform.triple
        module.data_layout = platform.data_layout()
        try:
            if layout not in ("", platform.data_layout()):
                module.verify()
        except RuntimeError as error:
            raise CompileError(
                f"{where}: the module, whose data layout was {layout!r}, is not valid with that of {platform.triple}\n{indented(error)}"
            ) from None
        text = _printout(module)
    warnings = triple_warnings(triple, platform) + layout_warnings(layout, platform, text)
    return Printed(text, platform, tuple(warnings))

"""What every backend takes and gives: a verified, optimised module on one side, blobs and facts on the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from gompute.artifacts.entry import KernelEntry, Resources
from gompute.artifacts.names import describe_unit
from gompute.backends.blob import Blob, Piece
from gompute.errors import CompileError

if TYPE_CHECKING:
    from llvmlite import binding as llvm

    from gompute.targets import Target

__all__ = ["Output", "Unit", "Whole"]


class Unit(NamedTuple):
    """Some kernels of a root for one target, ready for code generation.

    Attributes:
        module: optimised and verified; generating code changes it.
        emit: what was asked for: some of `ptx`, `cubin`, `ir`, `asm`.
    """

    module: llvm.ModuleRef
    machine: llvm.TargetMachine
    kernels: tuple[KernelEntry, ...]
    target: Target
    emit: frozenset[str]

    @property
    def name(self) -> str:
        """For messages: `kernels a, b for sm_89`."""
        return describe_unit([kernel.name for kernel in self.kernels], self.target)

    def object_code(self) -> bytes:
        """The module as an object file.

        Raises:
            CompileError: with LLVM's words.
        """
        made: bytes = self._generate(self.machine.emit_object, self.module)
        return made

    def assembly(self) -> str:
        """The module as assembly text; raises as `object_code`."""
        made: str = self._generate(self.machine.emit_assembly, self.module)
        return made

    def listing(self) -> str | None:
        """Assembly to look at, where it was asked for. It is made of a copy, so that it changes nothing of what is generated later."""
        if "asm" not in self.emit:
            return None
        with closing(self.module.clone()) as copy:
            made: str = self._generate(self.machine.emit_assembly, copy)
            return made

    def _generate(self, generate: Callable[[llvm.ModuleRef], Any], module: llvm.ModuleRef) -> Any:
        try:
            return generate(module)
        except RuntimeError as error:
            raise CompileError(f"{self.name}: LLVM cannot generate code\n  {error}") from None


class Whole(NamedTuple):
    """All pieces of one root for one target, ready to be joined.

    Attributes:
        pieces: in the order of the name table.
        emit: what was asked for: some of `ptx`, `cubin`, `ir`, `asm`.
    """

    pieces: tuple[Piece, ...]
    target: Target
    emit: frozenset[str]

    @property
    def kernels(self) -> tuple[KernelEntry, ...]:
        """All kernels of all pieces."""
        return tuple(kernel for piece in self.pieces for kernel in piece.kernels)

    @property
    def shared(self) -> dict[str, int]:
        """Bytes of static shared memory by kernel symbol."""
        return {symbol: size for piece in self.pieces for symbol, size in piece.shared.items()}

    @property
    def name(self) -> str:
        """For messages: `kernels a, b for sm_89`."""
        return describe_unit([kernel.name for kernel in self.kernels], self.target)


class Output(NamedTuple):
    """What a backend made of a root.

    Attributes:
        resources: by kernel symbol.
        toolchain: versions of what was used besides LLVM.
    """

    blobs: tuple[Blob, ...]
    resources: Mapping[str, Resources]
    toolchain: Mapping[str, str] = MappingProxyType({})

"""CPUs: one position-independent object, linked into a shared object that needs nothing and exports the kernels alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import binding as llvm

from gompute.artifacts.entry import Resources
from gompute.backends import lld
from gompute.backends.blob import Blob
from gompute.backends.elf import ElfFile
from gompute.backends.work import Output, Unit, Whole
from gompute.errors import InternalError

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["VECTORISE", "code", "join", "machine"]

VECTORISE = True

# By the first word of the triple: e_machine, and the linker's name for the format.
_MACHINES = {"x86_64": (62, "elf_x86_64"), "aarch64": (183, "aarch64linux")}

# A kernel may be called `_init` or `_fini`, which a loader would otherwise call by itself. No symbol can have these names.
_NO_HOOKS = ("-init=", "-fini=")


def machine(target: Target, level: int = 3) -> llvm.TargetMachine:
    """LLVM's code generator for a processor and features that are the target's own, never the host's."""
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=level, reloc="pic", codemodel="small"
    )


def code(unit: Unit) -> bytes:
    """Generate an object file. Raises CompileError where it needs a function of the C library."""
    made = unit.object_code()
    lld.refuse_calls(made, unit.name)
    return made


def join(whole: Whole) -> Output:
    """Link the objects into a shared object.

    Raises:
        CompileError: the linker is not installed or was killed.
        InternalError: the shared object exports something other than the kernels.
    """
    number, emulation = _MACHINES[whole.target.triple.partition("-")[0]]
    data = lld.link([piece.code for piece in whole.pieces], ("-m", emulation, *_NO_HOOKS), whole.name)
    linked = ElfFile.parse(data)
    exported = sorted(symbol.name for symbol in linked.symbols(dynamic=True) if symbol.name)
    if linked.machine != number or exported != sorted(kernel.symbol for kernel in whole.kernels):
        raise InternalError(
            f"{whole.name}: the shared object is for machine {linked.machine} and exports {', '.join(exported) or 'nothing'}"
        )
    resources = {kernel.symbol: Resources() for kernel in whole.kernels}
    return Output((Blob("so", data),), resources, {"lld": lld.version_of(data)})

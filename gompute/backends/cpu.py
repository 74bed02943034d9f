"""CPUs: one position-independent object, linked into a shared object that needs nothing and exports the kernels alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import binding as llvm

from gompute.artifacts.entry import Resources
from gompute.backends import lld
from gompute.backends.blob import Blob
from gompute.backends.elf import ElfFile
from gompute.backends.work import Output, Unit
from gompute.errors import InternalError

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["VECTORISE", "machine", "produce"]

VECTORISE = True

# By the first word of the triple: e_machine, and the linker's name for the format.
_MACHINES = {"x86_64": (62, "elf_x86_64"), "aarch64": (183, "aarch64linux")}

# A kernel may be called `_init` or `_fini`, which a loader would otherwise call by itself. No symbol can have these names.
_NO_HOOKS = ("-init=", "-fini=")


def machine(target: Target) -> llvm.TargetMachine:
    """LLVM's code generator for a processor and features that are the target's own, never the host's."""
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="small"
    )


def produce(unit: Unit) -> Output:
    """Generate a shared object.

    Raises:
        CompileError: a kernel came out needing a function of the C library, or the linker failed.
        InternalError: the shared object exports something other than the kernels.
    """
    assembly = unit.listing()
    number, emulation = _MACHINES[unit.target.triple.partition("-")[0]]
    data = lld.link(unit.object_code(), ("-m", emulation, *_NO_HOOKS), unit.name)
    linked = ElfFile.parse(data)
    exported = sorted(symbol.name for symbol in linked.symbols(dynamic=True) if symbol.name)
    if linked.machine != number or exported != sorted(kernel.symbol for kernel in unit.kernels):
        raise InternalError(
            f"{unit.name}: the shared object is for machine {linked.machine} and exports {', '.join(exported) or 'nothing'}"
        )
    resources = {kernel.symbol: Resources() for kernel in unit.kernels}
    return Output((Blob("so", data),), resources, assembly, {"lld": lld.version_of(data)})

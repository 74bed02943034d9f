"""NVIDIA: PTX at the lowest version that has the target, and a cubin through ptxas where one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import binding as llvm

from gompute.artifacts.entry import KernelEntry
from gompute.backends import ptx
from gompute.backends.blob import Blob
from gompute.backends.joining import is_text, join_texts
from gompute.backends.work import Output, Unit, Whole
from gompute.errors import CompileError, InternalError

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["VECTORISE", "code", "join", "machine"]

VECTORISE = False


def machine(target: Target, level: int = 3) -> llvm.TargetMachine:
    """LLVM's code generator. Given the processor alone, it writes the lowest PTX version that has it; a version is never asked for."""
    return llvm.Target.from_triple(target.triple).create_target_machine(cpu=target.cpu, features=target.features, opt=level)


def code(unit: Unit) -> bytes:
    """Generate PTX. Its symbols must be the unit's own: an assembler knows no local ones. Raises InternalError where it does not say
    what the name table says."""
    text = ptx.strip_header(unit.assembly())
    _check(unit.name, unit.kernels, unit.target, ptx.read(text))
    return text.encode("ascii")


def join(whole: Whole) -> Output:
    """Put the texts one after the other under one header, and make a cubin where `whole.emit` has `cubin`.

    Raises:
        CompileError: there can be no cubin, or ptxas refused the PTX.
        InternalError: the texts are not for one target, or ptxas does not report on a kernel.
    """
    texts, target = join_texts(whole), whole.target
    if is_text(target, whole.emit):
        return texts
    from gompute.backends import ptxas  # most builds ship PTX alone

    if "cubin" not in target.kinds:
        raise CompileError(
            f"{whole.name}: ptxas {ptxas.version()} makes no machine code for {target.name}; the oldest it knows is "
            f"{target.ptxas_arch}.\n  Leave out the cubin for {target.name}: drivers compile its PTX."
        )
    assembled = ptxas.assemble(texts.blobs[0].data, target.ptxas_arch, whole.name)
    missing = texts.resources.keys() - assembled.resources.keys()
    if missing:
        raise InternalError(f"{whole.name}: ptxas reports no resources of {', '.join(sorted(missing))}")
    version = ptxas.version()
    resources = {symbol: assembled.resources[symbol] for symbol in texts.resources}
    return Output((*texts.blobs, Blob("cubin", assembled.cubin, version)), resources, {"ptxas": version})


def _check(unit: str, kernels: tuple[KernelEntry, ...], target: Target, module: ptx.PtxModule) -> None:
    wrong: list[str] = []
    if module.target != target.arch:
        wrong.append(f"it is for {module.target}")
    if module.version != target.ptx_version:
        wrong.append(f"its version is {module.version}, and the table of targets says {target.ptx_version}")
    wrong += [f"it declares `{name}` and does not define it" for name in module.externals]
    wrong += [f"it has an integer type that PTX does not know: {line}" for line in module.odd_types]
    if module.kernels.keys() != {kernel.symbol for kernel in kernels}:
        wrong.append(f"its kernels are {', '.join(sorted(module.kernels)) or 'none'}")
    for kernel in kernels:
        found = module.kernels.get(kernel.symbol)
        if found is not None:
            wrong += _differences(kernel, found)
    if wrong:
        raise InternalError(f"{unit}: the PTX is not what was asked for\n" + "\n".join(f"  {line}" for line in wrong))


def _differences(kernel: KernelEntry, found: ptx.PtxKernel) -> list[str]:
    wrong: list[str] = []
    wanted = [argument.size for argument in kernel.passed]
    sizes = [size for size, _ in found.parameters]
    if sizes != wanted:
        wrong.append(f"kernel `{kernel.name}` has parameters of {sizes} bytes, and its name table entry says {wanted}")
    if found.block != kernel.block_size:
        wrong.append(f"kernel `{kernel.name}` is for blocks of {found.block}, and its name table entry says {kernel.block_size}")
    return wrong

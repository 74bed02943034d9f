"""What must hold for a module before a backend generates code from it.

LLVM accepts far more than the backends can carry out: a missing function becomes an undefined symbol, an alias to a kernel or a dot in a
name ends the process, `llvm.sin` turns into an approximation. All of that is found here, before and after optimisation, and all of it at
once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from llvmlite import binding as llvm

from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.names import describe_unit
from gompute.errors import CompileError
from gompute.ir.intrinsics import CPU_LARGEST_COPY, refusal, split_name
from gompute.ir.outline import FunctionOutline, ModuleOutline, outline

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["CONVENTIONS", "SHARED_SPACE", "Fault", "FaultKind", "Stage", "faults", "is_kernel_name", "is_symbol", "verify"]

Stage = Literal["before optimisation", "after optimisation"]
FaultKind = Literal[
    "alias",
    "constructor",
    "copy length",
    "external function",
    "external variable",
    "float remainder",
    "free order",
    "ifunc",
    "inline assembly",
    "intrinsic",
    "kernel arguments",
    "kernel convention",
    "kernel visibility",
    "missing kernel",
    "module assembly",
    "symbol name",
    "unlisted kernel",
]

#: The calling convention of a kernel, by backend, in LLVM's words; a CPU kernel is a C function.
CONVENTIONS = {"cuda": "ptx_kernel", "hip": "amdgpu_kernel", "cpu": ""}

#: LLVM's address space of memory shared by a block, on NVIDIA and AMD alike.
SHARED_SPACE = 3

_CPU_PARAMETERS = ["ptr", "ptr", "i64", "i64"]

# What LLVM derives from the names it is given (`switch.table.f`, `f.specialized.1`); the NVPTX backend rewrites the dots of local names.
_LOCAL_NAME = re.compile(r"[A-Za-z_$.][A-Za-z0-9_$.]*")
_SYMBOL = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# A predefined constant of PTX, and what the linker defines in a shared object.
_RESERVED = frozenset({"WARP_SZ", "_DYNAMIC", "_GLOBAL_OFFSET_TABLE_"})

_CONSTRUCTORS = {"llvm.global_ctors": "constructors", "llvm.global_dtors": "destructors"}
_COPIES = frozenset({"memcpy", "memmove", "memset"})
_SUMS = frozenset({"vector.reduce.fadd", "vector.reduce.fmul"})
_LENGTH = re.compile(r"i(?:32|64) (\d+), i1 (?:true|false)$")
# Lists of symbols to keep. They are read by the compiler and leave no symbol.
_KEEP_LISTS = frozenset({"llvm.used", "llvm.compiler.used"})


class Fault(NamedTuple):
    """One thing wrong with a module.

    Attributes:
        where: the kernels it concerns (or the function or module where no kernel reaches it), as text.
        text: what is wrong and what to write instead.
    """

    kind: FaultKind
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def is_kernel_name(name: str) -> bool:
    """Whether `name` can be a kernel's symbol on every backend: a C identifier with a letter or digit in it that no assembler reserves."""
    return _IDENTIFIER.fullmatch(name) is not None and name.strip("_") != "" and name not in _RESERVED


def is_symbol(name: str) -> bool:
    """Whether `name` can be that of a function or a variable in a module, for every assembler."""
    return _SYMBOL.fullmatch(name) is not None and name.strip("_$") != "" and name not in _RESERVED


def verify(module: llvm.ModuleRef, kernels: Sequence[KernelEntry], target: Target, stage: Stage) -> ModuleOutline:
    """Check a module that LLVM's own verifier has passed.

    Returns:
        The module's outline, for further questions.

    Raises:
        CompileError: naming every fault with the kernels that it concerns.
    """
    shape = outline(str(module))
    found = faults(module, shape, kernels, target, stage)
    if found:
        lines = "\n".join(f"  {fault}" for fault in found)
        number = "1 fault" if len(found) == 1 else f"{len(found)} faults"
        unit = describe_unit([kernel.name for kernel in kernels], target)
        raise CompileError(f"{unit}: {number} in the LLVM module, {stage}\n{lines}")
    return shape


def faults(module: llvm.ModuleRef, shape: ModuleOutline, kernels: Sequence[KernelEntry], target: Target, stage: Stage) -> list[Fault]:
    """All faults of a module, in a fixed order; see `FaultKind`."""
    symbols = {kernel.symbol: kernel.name for kernel in kernels}
    place = _Place(shape, symbols)
    found: list[Fault] = []
    for kernel in kernels:
        found += _kernel_faults(module, shape, kernel, target)
    for function in shape.functions.values():
        if function.body is None:
            found += _declaration_faults(function, shape, target, place, fast=all(kernel.fast for kernel in kernels))
        else:
            found += _body_faults(function, symbols, target, place)
    found += _variable_faults(shape, place)
    found += _name_faults(shape, symbols, stage, place)
    if shape.module_assembly:
        found.append(
            Fault("module assembly", "the module", "it holds assembly text (`module asm`); only instructions of LLVM IR are compiled")
        )
    return found


class _Place:
    """Words for where something is."""

    def __init__(self, shape: ModuleOutline, symbols: dict[str, str]) -> None:
        self._shape = shape
        self._symbols = symbols

    def of_user(self, name: str) -> str:
        """Where something stands in the function or variable `name`."""
        return self._words(self._shape.reaching(name), [name], "")

    def of_alias(self, name: str, uses: frozenset[str]) -> str:
        """Where an alias stands: with the kernels that it names and those that use it."""
        return self._words(self._shape.reaching(name) | uses, [], "the module")

    def of_global(self, name: str) -> str:
        """Where the global `name` is used."""
        return self._words(self._shape.reaching(name), self._shape.users(name), "the module")

    def _words(self, reaching: set[str], users: list[str], nobody: str) -> str:
        kernels = sorted(self._symbols[name] for name in reaching if name in self._symbols)
        through = [f"`{name}`" for name in users if name not in self._symbols]
        if not kernels:
            return f"function {', '.join(through)}" if through else nobody
        words = f"kernel{'' if len(kernels) == 1 else 's'} {', '.join(f'`{name}`' for name in kernels)}"
        return f"{words} (in {', '.join(through)})" if through else words


def _kernel_faults(module: llvm.ModuleRef, shape: ModuleOutline, kernel: KernelEntry, target: Target) -> Iterator[Fault]:
    where = f"kernel `{kernel.name}`"
    function = shape.functions.get(kernel.symbol)
    if function is None or function.body is None:
        how = "only declared" if function is not None else "not there"
        yield Fault("missing kernel", where, f"the function `{kernel.symbol}` that it names is {how}; define it under that name")
        return
    wanted = CONVENTIONS[target.backend]
    if function.convention != wanted:
        have, want = (f"`{word}`" if word else "that of C" for word in (function.convention, wanted))
        yield Fault("kernel convention", where, f"its calling convention is {have}; for {target.name} it must be {want}")
    if function.local:
        yield Fault("kernel visibility", where, "it is internal to the module, so a launch could not find it; make it external")
    value = module.get_function(kernel.symbol)
    types = [str(argument.type) for argument in value.arguments]
    if target.backend != "cpu":
        if len(types) != len(kernel.passed):
            yield Fault(
                "kernel arguments", where, f"it takes {len(types)} arguments, but its entry in the name table lists {len(kernel.passed)}"
            )
    elif types != _CPU_PARAMETERS:
        yield Fault("kernel arguments", where, f"it takes ({', '.join(types)}); a CPU kernel takes ({', '.join(_CPU_PARAMETERS)})")


def _declaration_faults(function: FunctionOutline, shape: ModuleOutline, target: Target, place: _Place, *, fast: bool) -> Iterator[Fault]:
    name = function.name
    if not name.startswith("llvm."):
        yield Fault(
            "external function",
            place.of_global(name),
            f"it needs the function `{name}`, which the module only declares; nothing is linked in, so define it in the module",
        )
        return
    reason = refusal(name, target.backend, target.number, fast=fast)
    if reason is not None:
        yield Fault("intrinsic", place.of_global(name), f"the intrinsic `{name}` is not allowed: {reason}")
    elif split_name(name)[0] in _SUMS:
        for user in shape.users(name):
            if shape.functions[user].reorders(name):
                text = f"`{name}` has a flag by which LLVM may add in any order, another on each target; leave out `reassoc` and `fast`"
                yield Fault("free order", place.of_user(user), text)
    elif target.backend == "cpu" and (base := split_name(name)[0]) in _COPIES:
        for user in shape.users(name):
            lengths = [_LENGTH.search(call) for call in shape.functions[user].calls_of(name)]
            if not all(length is not None and int(length[1]) <= CPU_LARGEST_COPY for length in lengths):
                yield Fault(
                    "copy length",
                    place.of_user(user),
                    f"`{name}` of more than {CPU_LARGEST_COPY} bytes, or of a length known only when it runs, becomes a call of the "
                    f"C library; write a loop, or `llvm.{base}.inline`",
                )


def _body_faults(function: FunctionOutline, symbols: dict[str, str], target: Target, place: _Place) -> Iterator[Fault]:
    if target.backend != "cpu" and function.convention == CONVENTIONS[target.backend] and function.name not in symbols:
        yield Fault(
            "unlisted kernel", f"function `{function.name}`", "it is a kernel, but the name table does not list it; list or drop it"
        )
    if function.float_remainder:
        yield Fault(
            "float remainder",
            place.of_user(function.name),
            "`frem` is wrong for large quotients on NVIDIA and a call of the C library on a CPU; write the remainder out",
        )
    if function.inline_assembly:
        yield Fault("inline assembly", place.of_user(function.name), "it holds inline assembly; only instructions of LLVM IR are compiled")


def _variable_faults(shape: ModuleOutline, place: _Place) -> Iterator[Fault]:
    for variable in shape.variables.values():
        name = variable.name
        if variable.kind in ("alias", "ifunc"):
            to = ", ".join(f"`{used}`" for used in sorted(variable.uses)) or "a constant"
            kind: FaultKind = "alias" if variable.kind == "alias" else "ifunc"
            text = f"`{name}` is an {kind} of {to}, which not every backend can carry out; define the function under that name"
            yield Fault(kind, place.of_alias(name, variable.uses), text)
        elif name in _CONSTRUCTORS:
            what = _CONSTRUCTORS[name]
            yield Fault("constructor", "the module", f"it has global {what} (`{name}`), and nothing runs them; use constant initialisers")
        elif not variable.defined and not (variable.address_space == SHARED_SPACE and variable.empty):
            text = f"it needs the variable `{name}`, which the module only declares; define it in the module"
            yield Fault("external variable", place.of_global(name), text)


def _name_faults(shape: ModuleOutline, symbols: dict[str, str], stage: Stage, place: _Place) -> Iterator[Fault]:
    for item in shape.items():
        name = item.name
        if name.startswith("llvm.") and (name in shape.functions or name in _CONSTRUCTORS or name in _KEEP_LISTS):
            continue
        if name in symbols:
            safe = is_kernel_name(name)
        elif item.local and stage == "after optimisation":
            safe = _LOCAL_NAME.fullmatch(name) is not None
        else:
            safe = is_symbol(name)
        if not safe:
            rule = "use letters, digits and underscores, none of the words " + ", ".join(sorted(_RESERVED))
            yield Fault("symbol name", place.of_user(name), f"`{name}` is no name that every assembler takes; {rule}")

"""A kernel root in LLVM IR: from the file of another compiler to a module for one target and its name table."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from llvmlite import binding as llvm

from gompute.artifacts.entry import ArgumentEntry, KernelEntry
from gompute.errors import CompileError
from gompute.frontend import KernelIR, Lowering, Reads, kernels_not_made
from gompute.ir.closed import closed
from gompute.ir.foreign import opened
from gompute.ir.kernels import Kernel
from gompute.ir.parameters import Parameter, closing, parameters
from gompute.ir.printout import Definition, decoded, statements
from gompute.ir.rewrite import kernels as kernels_of
from gompute.ir.rewrite import prune, rewrite
from gompute.ir.verify import CONVENTIONS

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["foreign_root"]

#: Address spaces of memory that a launch can point to: any, global and constant memory.
_LAUNCHABLE = frozenset({"ptr", "ptr addrspace(1)", "ptr addrspace(4)"})
_SCALARS = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "i1": "bool"}
_INTEGER = re.compile(r"i(8|16|32|64)")
_SIZES = {"bool": 1, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}
_LARGEST_BLOCK = 1024
_MOST_ALIGNED = 128
_PROBE = "gompute.probe"

_TRIPLE = re.compile(r'^target triple = "([^"]*)"', re.MULTILINE)
_GROUP = re.compile(r"^attributes #(\d+) = \{([^\n]*)\}", re.MULTILINE)
_EXTENTS = re.compile(r'"nvvm\.(?:max|req)ntid"="(\d+)(?:, ?(\d+))?(?:, ?(\d+))?"')
_FLAT_SIZE = re.compile(r'"amdgpu-flat-work-group-size"="\d+,(\d+)"')
_REQUIRED = re.compile(r"!reqd_work_group_size !(\d+)")
_BEFORE_ATTRIBUTES = re.compile(r"(?: local_unnamed_addr| unnamed_addr)?(?: addrspace\(\d+\))?")


def foreign_root(source: Path, *, name: str, target: Target, kernels: Collection[str] | None = None) -> tuple[Lowering, tuple[str, ...]]:
    """Read a `.ll` or `.bc` file.

    A kernel's name in the table is its public name, or where that is no C identifier its symbol. Arguments are read from the module: an
    integer is signed unless the module says that it is extended with zeros, and a struct by value is bytes.

    Args:
        source: the file; messages show it as it is given here.
        name: the root's name.
        kernels: names of those to keep; None for all.

    Returns:
        The root as one module with all of its kernels, and where its meaning may have changed with its target.

    Raises:
        CompileError: LLVM cannot read it, it is for another vendor's GPUs, it has no kernel, or none of a name in `kernels`, or one takes
            an argument that no launch can pass.
    """
    where = str(source)
    try:
        data = source.read_bytes()
    except OSError as error:
        raise CompileError(f"{where}: {error.strerror}") from None
    left_out: tuple[str, ...] = ()
    if kernels is None:
        module = rewrite(data, where)
    else:
        listed = kernels_of(data, where)
        module = prune(data, where, _publics(listed, kernels, f"{where}: root '{name}'"))
        left_out = tuple(sorted(kernel.symbol for kernel in listed if kernel.symbol not in kernels))
    _check_vendor(module.text, name, target, where)
    text = closed(module.text, CONVENTIONS[target.backend], target.code_object_version, where)
    symbols = {kernel.symbol for kernel in module.kernels}
    definitions = [
        item for item in statements(text, CONVENTIONS[target.backend]) if isinstance(item, Definition) and decoded(item.name) in symbols
    ]
    text, blocks = _with_blocks(text, definitions, target)
    entries = _entries(text, definitions, blocks, where)
    unit = KernelIR(text, tuple(sorted(entries, key=lambda entry: entry.name)))
    reads = Reads({os.path.realpath(source): hashlib.sha256(data).hexdigest()}, {}, {}, (), None)
    return Lowering(1, iter([unit]), lambda: reads, left_out, foreign=True), module.warnings


def _publics(listed: Sequence[Kernel], wanted: Collection[str], where: str) -> list[str]:
    by_symbol = {kernel.symbol: kernel.public for kernel in listed}
    if not by_symbol.keys() >= set(wanted):
        raise kernels_not_made(where, set(wanted) - by_symbol.keys(), by_symbol)
    return [by_symbol[name] for name in wanted]


def _check_vendor(text: str, name: str, target: Target, where: str) -> None:
    found = _TRIPLE.search(text)
    triple = found[1] if found is not None else ""
    if triple != target.triple:
        backend = {"nvptx64": "cuda", "amdgcn": "hip"}[triple.partition("-")[0]]
        raise CompileError(
            f"{where}: the module is for {triple}, and cannot be compiled for {target.name}.\n"
            f"  Say which file is for which backend, in pyproject.toml: [tool.gompute.roots.{name}] source = "
            f'{{ {backend} = "{_file_name(where)}", {target.backend} = "..." }}; a backend that is left out gets none of the root.'
        )


def _file_name(where: str) -> str:
    """The last part of a path."""
    return where.rpartition("/")[2]


def _with_blocks(text: str, definitions: Sequence[Definition], target: Target) -> tuple[str, dict[str, tuple[int, int, int]]]:
    """The largest block of each kernel, and the module with every kernel saying it."""
    groups = dict(_GROUP.findall(text))
    blocks: dict[str, tuple[int, int, int]] = {}
    for item in definitions:
        rest = item.after[closing(item.after, 0) + 1 :]
        words = rest + " ".join(groups.get(number, "") for number in re.findall(r"#(\d+)", rest))
        said = _block(words, text, target.backend)
        blocks[item.name] = said or (_LARGEST_BLOCK, 1, 1)
        if said is None or (target.backend == "hip" and _FLAT_SIZE.search(words) is None):
            size = prod(blocks[item.name])
            word = '"nvvm.maxntid"="1024,1,1"' if target.backend == "cuda" else f'"amdgpu-flat-work-group-size"="1,{size}"'
            before = _BEFORE_ATTRIBUTES.match(rest)
            assert before is not None, "it matches nothing too"
            head = item.head()
            cut = len(head) - len(rest) + before.end()
            text = text.replace(f"{head} {{", f"{head[:cut]} {word}{head[cut:]} {{", 1)
    return text, blocks


def _block(words: str, text: str, backend: str) -> tuple[int, int, int] | None:
    if backend == "cuda":
        extents = _EXTENTS.search(words)
        return None if extents is None else _sizes(extents.groups())
    required = _REQUIRED.search(words)
    if required is not None:
        node = re.search(rf"^!{required[1]} = !\{{i32 (\d+), i32 (\d+), i32 (\d+)\}}", text, re.MULTILINE)
        if node is not None:
            return _sizes(node.groups())
    flat = _FLAT_SIZE.search(words)
    return None if flat is None else (int(flat[1]), 1, 1)


def _sizes(found: Sequence[str | None]) -> tuple[int, int, int]:
    x, y, z = (int(extent or 1) for extent in found)
    return x, y, z


def _entries(text: str, definitions: Sequence[Definition], blocks: dict[str, tuple[int, int, int]], where: str) -> list[KernelEntry]:
    kinds = {parameter.value_type for item in definitions for parameter in parameters(item)}
    layouts = _layouts(text, sorted(kinds), where)
    made, faults = [], []
    for item in definitions:
        symbol = decoded(item.name)
        arguments = []
        for number, parameter in enumerate(parameters(item)):
            label = parameter.name if parameter.name.isidentifier() and parameter.name.isascii() else f"arg{number}"
            found = _argument(label, parameter, layouts[parameter.value_type])
            if isinstance(found, str):
                faults.append(f"  kernel `{symbol}`: its argument {number + 1} is {found}")
            else:
                arguments.append(found)
        if max(blocks[item.name]) > _LARGEST_BLOCK or min(blocks[item.name]) < 1:
            faults.append(f"  kernel `{symbol}`: it is for blocks of {blocks[item.name]}, and each extent is from 1 to {_LARGEST_BLOCK}")
        made.append(KernelEntry(symbol, symbol, "kernel", tuple(arguments), blocks[item.name]))
    if faults:
        raise CompileError(f"{where}: no launch can pass what these kernels take\n" + "\n".join(faults))
    return made


def _argument(name: str, parameter: Parameter, layout: tuple[int, int]) -> ArgumentEntry | str:
    """The entry of an argument, or why it can have none."""
    kind = parameter.value_type
    if parameter.in_memory is None and kind.startswith("ptr"):
        if kind not in _LAUNCHABLE:
            return f"`{kind}`, a pointer to memory of one block or work-item; declare that memory in the kernel"
        return ArgumentEntry(name, "pointer", "any", 8, 8)
    if parameter.in_memory is None and (dtype := _scalar(kind, parameter.extension)) is not None:
        size = _SIZES.get(dtype) or int(dtype[1:]) // 8
        return ArgumentEntry(name, "scalar", dtype, size, size)
    if parameter.in_memory is None and re.fullmatch(r"i\d+", kind) is not None:
        return f"`{kind}`, an integer of no size that a launch passes; take i8, i16, i32 or i64"
    size, natural = layout
    align = (parameter.align or natural) if parameter.in_memory is not None else natural
    if not 1 <= size <= 1 << 16 or align > _MOST_ALIGNED:
        return f"`{kind}` of {size} bytes aligned to {align}; pass a pointer to what is large"
    return ArgumentEntry(name, "bytes", "bytes", size, align)


def _scalar(kind: str, extension: str | None) -> str | None:
    integer = _INTEGER.fullmatch(kind)
    if integer is None:
        return _SCALARS.get(kind)
    return f"{'u' if extension == 'zeroext' else 'i'}{integer[1]}"


def _layouts(text: str, kinds: Sequence[str], where: str) -> dict[str, tuple[int, int]]:
    """Size and alignment in bytes of each type, named as in the module, by LLVM's own count."""
    probes = "".join(f'@"{_PROBE}.{number}" = external global {kind}\n' for number, kind in enumerate(kinds))
    with opened([f"{text}\n{probes}".encode()], where) as module:
        data = llvm.create_target_data(module.data_layout)
        found = {
            kinds[int(variable.name.rpartition(".")[2])]: variable.global_value_type
            for variable in module.global_variables
            if variable.name.startswith(f"{_PROBE}.")
        }
        return {kind: (int(data.get_abi_size(type_)), int(data.get_abi_alignment(type_))) for kind, type_ in found.items()}

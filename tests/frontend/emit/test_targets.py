"""Everything that the emitter can write, through the backends, for targets of each kind."""

from __future__ import annotations

from functools import partial
from typing import get_args

import pytest

from gompute.artifacts.entry import ArgumentEntry, KernelEntry
from gompute.backends import ptxas
from gompute.backends.pipeline import generate
from gompute.frontend import typed
from gompute.frontend.emit import emit
from gompute.frontend.typed import Slot
from gompute.lang.types import BOOL, F32, F64, I32, I64, SCALARS, U8, U64, ParamsType, PointerType, ScalarType
from gompute.targets import all_targets, parse_target
from tests.frontend.emit.cases import bitcast_cases, constant_cases, one_operand_cases, two_operand_cases
from tests.frontend.emit.compiled import machine
from tests.frontend.emit.programs import TYPES, Program
from tests.frontend.emit.test_cpu_kernels import coordinates_kernel, params_module
from tests.frontend.emit.trees import binary, elementwise, function, module, read, scale_relu

TARGETS = ["sm_50", "sm_75", "sm_120", "gfx90a:xnack+", "gfx11-generic", "gfx1201", "x86-64-v3", "aarch64"]


def entries(tree: typed.Module) -> tuple[KernelEntry, ...]:
    """The name table that goes with a module."""
    made = []
    for kernel in tree.kernels:
        if isinstance(kernel, typed.RawKernel):
            arguments = [_argument(slot.name, slot.type) for slot in kernel.function.parameters]
        else:
            arguments = [_argument(array.name, PointerType(array.element)) for array in kernel.arrays]
            arguments += [_argument(count, U64) for count in kernel.counts]
            if kernel.params is not None:
                arguments.append(_argument("params", kernel.params))
        kind = "kernel" if isinstance(kernel, typed.RawKernel) else "map"
        made.append(KernelEntry(kernel.name, kernel.name, kind, tuple(arguments), kernel.block_size))
    return tuple(made)


def _argument(name: str, kind: object) -> ArgumentEntry:
    if isinstance(kind, PointerType):
        return ArgumentEntry(name, "pointer", kind.element.name, 8, 8)
    if isinstance(kind, ParamsType):
        return ArgumentEntry(name, "params", kind.name, kind.size, kind.align)
    assert isinstance(kind, ScalarType)
    return ArgumentEntry(name, "scalar", kind.name, kind.size, kind.size)


def everything() -> typed.Module:
    """All operations on all types, every kind of kernel and argument, and random programs."""
    kernels: list[typed.Kernel] = [scale_relu(), coordinates_kernel()]
    callees: list[typed.Function] = []
    for scalar in SCALARS.values():
        kernels.append(elementwise(f"two_{scalar}", (scalar, scalar), [case.make for case in two_operand_cases(scalar)]))
        one = one_operand_cases(scalar) + bitcast_cases(scalar) + (constant_cases(scalar) if scalar == I32 else [])
        kernels.append(elementwise(f"one_{scalar}", (scalar,), [case.make for case in one]))
        kernels += _operations(scalar)
    for seed, result in enumerate(TYPES[::2]):
        program = Program(seed, (I32, F32, U8), result, callees[-3:]).function
        callees.append(program)
        kernels.append(elementwise(f"call_{seed}", (I32, F32, U8), [partial(_call, program)]))
    params = params_module(I64)
    return module(
        [*kernels, *_tiled(), *params.kernels], *callees, *(function for function in params.functions if function.symbol == "leaves")
    )


def _operations(scalar: ScalarType) -> list[typed.Kernel]:
    """A zip with an index, every move where the type can be an index, and additions of what no hardware adds."""
    x = Slot("x", scalar)
    first = function(f"first_{scalar}", (x, Slot("y", U8), Slot("i", U64)), scalar, typed.Return(read(x)))
    arrays = (typed.Array("a", scalar), typed.Array("b", U8), typed.Array("out", scalar))
    zipped = typed.ElementwiseKernel(f"zip_{scalar}", arrays, False, True, first, (64, 1, 1))
    made: list[typed.Kernel] = [zipped]
    if scalar.is_integer:
        made += [typed.IndirectKernel(f"{move}_{scalar}", F32, scalar, move, None, (256, 1, 1)) for move in get_args(typed.Move)]
    if scalar.bits < 32 and scalar != BOOL:
        made.append(typed.IndirectKernel(f"add_{scalar}", scalar, U8, "scatter_add", _plus(scalar), (256, 1, 1)))
    return made


def _plus(scalar: ScalarType) -> typed.Function:
    a, b = Slot("a", scalar), Slot("b", scalar)
    return function(f"plus_{scalar}", (a, b), scalar, typed.Return(binary("add", read(a), read(b))))


def _tiled() -> list[typed.TiledKernel]:
    return [
        typed.TiledKernel("total", F64, None, _plus(F64), typed.Constant(F64, 0), None, (256, 1, 1)),
        typed.TiledKernel("scan", I64, None, _plus(I64), typed.Constant(I64, 0), "inclusive", (96, 1, 1)),
        typed.TiledKernel("before", F32, None, _plus(F32), typed.Constant(F32, 0), "exclusive", (1024, 1, 1)),
    ]


def _call(function: typed.Function, *operands: typed.Expression) -> typed.Expression:
    return typed.Call(function.result, function, operands)


@pytest.mark.parametrize("name", TARGETS)
def test_everything_compiles(name: str) -> None:
    """The backends verify the module before and after optimisation, link what LLVM gives, and refuse whatever needs a library."""
    target = parse_target(name)
    tree = everything()
    made = generate(emit(tree, target), entries(tree), target)
    if target.backend == "cuda":
        ptxas.assemble(made.blobs[0].data, target.ptxas_arch, name)


@pytest.mark.parametrize("name", sorted({(target.backend, target.triple): target.name for target in all_targets()}.values()))
def test_the_header_is_that_of_the_target_machine(name: str) -> None:
    target = parse_target(name)
    lines = emit(module([scale_relu()]), target).splitlines()
    assert lines[:2] == [f'target datalayout = "{machine(target).target_data}"', f'target triple = "{machine(target).triple}"']

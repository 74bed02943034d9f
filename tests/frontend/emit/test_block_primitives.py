"""What work-items of a block share, as each backend spells it: every atomic operation on every type and scope, shared memory, barriers."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from gompute.artifacts.entry import ArgumentEntry, KernelEntry
from gompute.backends.pipeline import generate
from gompute.frontend import typed
from gompute.frontend.dialects import dialect_for
from gompute.frontend.irtext.text import FunctionText, ModuleText
from gompute.frontend.irtext.values import value_type
from gompute.lang.types import F32, F64, I32, I64, U32, U64, ScalarType
from gompute.targets import parse_target

TYPES = (I32, U32, I64, U64, F32, F64)
ENTRY = KernelEntry("k", "k", "kernel", (ArgumentEntry("p", "pointer", "f32", 8, 8),), (256, 1, 1))
CPU_ENTRY = """define void @k(ptr %args, ptr %launch, i64 %begin, i64 %end) nounwind "no-builtins" {
  %p = load ptr, ptr %args
  call void @work(ptr %p)
  ret void
}"""


def operations(scalar: ScalarType) -> list[typed.AtomicOp]:
    return [op for op in get_args(typed.AtomicOp) if not (scalar.is_float and op in ("and", "or", "xor"))]


def assembly(target_name: str) -> str:
    """The code of one kernel that does everything, in global memory and, on a GPU, in shared memory."""
    target = parse_target(target_name)
    dialect = dialect_for(target)
    module = ModuleText(["k", "work"], dialect.table_space)
    text = FunctionText(module)
    on_gpu = target.backend != "cpu"
    for scalar in TYPES:
        register = value_type(scalar)
        tile = module.shared_array("tile", scalar, 16) if on_gpu else ""
        for op in operations(scalar):
            value = text.value(f"load {register}, {dialect.global_pointer} %p")
            operands = (value, value) if op == "cas" else (value,)
            for scope in get_args(typed.Scope):
                old = dialect.atomic(text, op, scalar, dialect.global_pointer, "%p", operands, scope)
                text.effect(f"store {register} {old}, {dialect.global_pointer} %p")
            if on_gpu:
                old = dialect.atomic(text, op, scalar, dialect.shared_pointer, tile, operands, "block")
                text.effect(f"store {register} {old}, {dialect.global_pointer} %p")
    if on_gpu:
        dialect.barrier(text)
    text.ret("void")
    if on_gpu:
        convention = "ptx_kernel" if target.backend == "cuda" else "amdgpu_kernel"
        block = '"nvvm.maxntid"="256,1,1"' if target.backend == "cuda" else '"amdgpu-flat-work-group-size"="1,256"'
        head = f'define {convention} void @k({dialect.global_pointer} align 8 %p) convergent nounwind "no-builtins" {block}'
        module.add_function(text.definition(head))
    else:
        module.add_function(text.definition("define internal void @work(ptr %p) noinline nounwind"))
        module.add_function(CPU_ENTRY)
    header = f'target datalayout = "{dialect.data_layout}"\ntarget triple = "{dialect.triple}"'
    emit = frozenset({"asm", "cubin"} if target.backend == "cuda" and "cubin" in target.kinds else {"asm"})
    made = generate(module.render(header, dialect.module_metadata), (ENTRY,), target, emit=emit)
    assert made.kernels[0].resources.shared == (16 * 36 if on_gpu else None)
    return made.listings["asm"]


@pytest.mark.parametrize("target", ["sm_75", "sm_120"])
def test_nvidia_updates_memory_in_one_instruction(target: str) -> None:
    code = assembly(target)
    for op in ("add.u32", "add.u64", "add.f32", "add.f64", "min.s32", "max.u64", "and.b32", "or.b64", "xor.b32", "exch.b64"):
        assert f"atom.global.{op}" in code and f"atom.shared.{op}" in code, op
    # The scope of the system is spelled out, for what PTX takes without a scope is the device.
    for op in ("add.s32", "add.u64", "add.f32", "add.f64", "min.s64", "max.s32", "and.b64", "or.b32", "xor.b64", "exch.b32"):
        assert f"atom.sys.{op}" in code, op
    assert {"cta.global", "gpu.global", "sys.global", "cta.shared"} == set(re.findall(r"atom\.relaxed\.(\w+\.\w+)\.cas\.b32", code))
    assert "bar.sync" in code and "call" not in code


@pytest.mark.parametrize(("target", "f64", "shared_f64"), [("gfx90a", True, True), ("gfx1100", False, False), ("gfx1201", False, False)])
def test_amd_adds_floats_where_its_memory_can(target: str, f64: bool, shared_f64: bool) -> None:
    code = assembly(target)
    assert "global_atomic_add_f32" in code and "ds_add_rtn_f32" in code
    assert ("global_atomic_add_f64" in code, "ds_add_rtn_f64" in code) == (f64, shared_f64)
    assert re.search(r"global_atomic_(s|)max(_i32|)\b", code) and re.search(r"global_atomic_(umin_x2|min_u64)\b", code)
    assert "s_barrier" in code


@pytest.mark.parametrize(("target", "words"), [("x86-64-v3", ("lock", "cmpxchg")), ("aarch64", ("ldxr", "stxr"))])
def test_a_cpu_needs_nothing_outside_the_kernel(target: str, words: tuple[str, ...]) -> None:
    code = assembly(target)  # an undefined symbol would have been refused
    assert all(word in code for word in words)

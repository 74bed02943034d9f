"""The table of intrinsics: what it says of names, and that every row becomes instructions on every backend that it names."""

from __future__ import annotations

import re

import pytest

from gompute.backends.pipeline import generate
from gompute.ir.intrinsics import CPU_LARGEST_COPY, GROUPS, Group, refusal, split_name
from gompute.targets import Target, parse_target
from tests.backends.modules import kernel

_LLVM_TYPES = {"f16": "half", "f32": "float", "f64": "double"}
_FLOATS = ("f16", "f32", "f64")
_INTEGERS = ("i8", "i16", "i32", "i64")
_TARGETS = {"cuda": ("sm_50", "sm_90"), "hip": ("gfx906", "gfx1100"), "cpu": ("x86-64-v3", "aarch64")}

# Operands of the intrinsics that take others than one value of their type: T is the type, V a vector of four, M a mask for it.
_OPERANDS = {
    **dict.fromkeys("copysign maximum minimum".split(), "T, T"),
    "fma": "T, T, T",
    "is.fpclass": "T, i32 immarg 516",
    **dict.fromkeys("smax smin umax umin sadd.sat ssub.sat uadd.sat usub.sat".split(), "T, T"),
    **dict.fromkeys("sadd smul ssub uadd umul usub".split(), "T, T"),
    **dict.fromkeys("abs ctlz cttz".split(), "T, i1 immarg false"),
    **dict.fromkeys("fshl fshr".split(), "T, T, T"),
}


def _typed(suffix: str) -> str:
    return _LLVM_TYPES.get(suffix, suffix)


class _Calls:
    """Lines of a kernel's body: each operand is loaded and each result stored, volatile, so that nothing is folded or dropped."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declarations: set[str] = set()

    def load(self, type_: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = load volatile {type_}, ptr %data, align 1")
        return name

    def call(self, name: str, result: str, *operands: str) -> None:
        """Operands are types, or `type immarg value` for constants and `type = name` for what was loaded before."""
        types, given = [], []
        for operand in operands:
            if " immarg " in operand:
                type_, value = operand.split(" immarg ")
            elif " = " in operand:
                type_, value = operand.split(" = ")
            else:
                type_, value = operand, self.load(operand)
            types.append(type_)
            given.append(f"{type_} {value}")
        self.declarations.add(f"declare {result} @llvm.{name}({', '.join(types)})")
        if result == "void":
            self.lines.append(f"  call void @llvm.{name}({', '.join(given)})")
            return
        register = f"%r{len(self.lines)}"
        self.lines.append(f"  {register} = call {result} @llvm.{name}({', '.join(given)})")
        self.lines.append(f"  store volatile {result} {register}, ptr %data, align 1")

    def ir(self, target: Target) -> str:
        return kernel(target, "\n".join(self.lines), before="\n".join(sorted(self.declarations)))[0]


def _plain(calls: _Calls, name: str, suffix: str, vector: bool) -> None:
    """An intrinsic over one type, of a scalar or of a vector of four."""
    type_ = f"<4 x {_typed(suffix)}>" if vector else _typed(suffix)
    mangled = f"v4{suffix}" if vector else suffix
    result = type_
    if name == "is.fpclass":
        result = "<4 x i1>" if vector else "i1"
    if name.endswith(".with.overflow"):
        result = f"{{ {type_}, {'<4 x i1>' if vector else 'i1'} }}"
    operands = _OPERANDS.get(name.removesuffix(".with.overflow"), "T").split(", ")
    calls.call(f"{name}.{mangled}", result, *(operand.replace("T", type_) if operand[0] == "T" else operand for operand in operands))


def _conversions(calls: _Calls, name: str) -> None:
    for source in _FLOATS:
        for result in _INTEGERS:
            calls.call(f"{name}.{result}.{source}", result, _typed(source))


def _three_way(calls: _Calls, name: str) -> None:
    for type_ in _INTEGERS:
        calls.call(f"{name}.i8.{type_}", "i8", type_, type_)


def _vectors(calls: _Calls, name: str) -> None:
    for suffix in ("i8", "i64", "f16", "f32"):
        vector, half, mask, pointers = f"<4 x {_typed(suffix)}>", f"<2 x {_typed(suffix)}>", "<4 x i1>", "<4 x ptr>"
        match name:
            case "masked.load":
                calls.call(f"{name}.v4{suffix}.p0", vector, "ptr = %data", mask, vector)
            case "masked.store":
                calls.call(f"{name}.v4{suffix}.p0", "void", vector, "ptr = %data", mask)
            case "masked.gather":
                calls.call(f"{name}.v4{suffix}.v4p0", vector, pointers, mask, vector)
            case "masked.scatter":
                calls.call(f"{name}.v4{suffix}.v4p0", "void", vector, pointers, mask)
            case "vector.extract":
                calls.call(f"{name}.v2{suffix}.v4{suffix}", half, vector, "i64 immarg 2")
            case "vector.insert":
                calls.call(f"{name}.v4{suffix}.v2{suffix}", vector, vector, half, "i64 immarg 2")
            case "vector.reverse":
                calls.call(f"{name}.v4{suffix}", vector, vector)
            case "vector.interleave2":
                calls.call(f"{name}.v4{suffix}", vector, half, half)
            case "vector.deinterleave2":
                calls.call(f"{name}.v4{suffix}", f"{{ {half}, {half} }}", vector)
            case _:
                raise AssertionError(f"no call is known for {name}")


def _facts(calls: _Calls, name: str) -> None:
    match name:
        case "assume":
            calls.call(name, "void", "i1")
        case "donothing" | "sideeffect":
            calls.call(name, "void")
        case "experimental.noalias.scope.decl":
            calls.call(name, "void", "metadata immarg !{!9}")
        case "expect":
            calls.call("expect.i32", "i32", "i32", "i32 immarg 1")
        case "expect.with.probability":
            calls.call("expect.with.probability.i32", "i32", "i32", "i32 immarg 1", "double immarg 0.5")
        case "ptrmask":
            calls.call("ptrmask.p0.i64", "ptr", "ptr = %data", "i64 immarg -8")
        case "load.relative":
            calls.call("load.relative.i64", "ptr", "ptr = %data", "i64")
        case _:
            raise AssertionError(f"no call is known for {name}")


def _copies(calls: _Calls, name: str, backend: str) -> None:
    length = str(CPU_LARGEST_COPY) if backend == "cpu" and not name.endswith(".inline") else "1000"
    source = "i8 immarg 0" if name.startswith("memset") else "ptr"
    suffix = "p0.i64" if name.startswith("memset") else "p0.p0.i64"
    calls.call(f"{name}.{suffix}", "void", "ptr = %data", source, f"i64 immarg {length}", "i1 immarg false")


def _lifetimes(calls: _Calls, backend: str) -> None:
    space = 5 if backend == "hip" else 0
    pointer = "ptr" if space == 0 else f"ptr addrspace({space})"
    calls.lines.append(f"  %local = alloca i32, align 4{f', addrspace({space})' if space else ''}")
    calls.call(f"lifetime.start.p{space}", "void", f"{pointer} = %local")
    calls.lines.append(f"  store volatile i32 1, {pointer} %local")
    calls.call(f"lifetime.end.p{space}", "void", f"{pointer} = %local")
    calls.declarations.add(f"declare ptr @llvm.invariant.start.p{space}(i64, {pointer})")
    calls.lines.append(f"  %fixed = call ptr @llvm.invariant.start.p{space}(i64 4, {pointer} %local)")
    calls.call(f"invariant.end.p{space}", "void", "ptr = %fixed", "i64 immarg 4", f"{pointer} = %local")


_COROUTINE = """
declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare i64 @llvm.coro.size.i64()
declare ptr @llvm.coro.begin(token, ptr)
declare i8 @llvm.coro.suspend(token, i1)
declare void @llvm.coro.end(ptr, i1, token)
declare void @llvm.coro.resume(ptr)
declare i1 @llvm.coro.done(ptr)

define ptr @item(ptr %memory, ptr %out) presplitcoroutine {
  %id = call token @llvm.coro.id(i32 16, ptr null, ptr null, ptr null)
  %handle = call ptr @llvm.coro.begin(token %id, ptr %memory)
  %first = call i8 @llvm.coro.suspend(token none, i1 false)
  switch i8 %first, label %away [i8 0, label %again]
again:
  %size = call i64 @llvm.coro.size.i64()
  store i64 %size, ptr %out
  %last = call i8 @llvm.coro.suspend(token none, i1 true)
  switch i8 %last, label %away [i8 0, label %never]
never:
  unreachable
away:
  call void @llvm.coro.end(ptr %handle, i1 false, token none)
  ret ptr %handle
}

define void @run(ptr %memory, ptr %out) {
  %handle = call ptr @item(ptr %memory, ptr %out)
  call void @llvm.coro.resume(ptr %handle)
  %done = call i1 @llvm.coro.done(ptr %handle)
  store volatile i1 %done, ptr %out
  ret void
}
"""


def _groups(target: Target) -> list[Group]:
    """What every kernel may use; approximations, which are for those that ask, are seen in code in the conformance suite."""
    own = [group for group in GROUPS if target.backend in group.backends and not group.approximate]
    return [group for group in own if target.number >= group.since]


def _of_blocks(calls: _Calls, name: str, warp_size: int) -> None:
    """What concerns a block as a whole."""
    if name.startswith("nvvm.atomic."):
        for suffix in ("f32", "f64") if ".f." in name else ("i32", "i64"):
            calls.lines.append(f"  %g{len(calls.lines)} = addrspacecast ptr %data to ptr addrspace(1)")
            pointer = calls.lines[-1].split()[0]
            calls.call(f"{name}.{suffix}.p1", _typed(suffix), f"ptr addrspace(1) = {pointer}", _typed(suffix))
    elif name.startswith("nvvm.barrier"):
        calls.call(name, "void", "i32 immarg 0")
    elif name == "amdgcn.s.barrier":
        calls.call(name, "void")
    elif name.startswith("nvvm.shfl"):
        calls.call(f"{name}.i32", "i32", "i32", "i32", "i32", "i32 immarg 31")
    elif name.startswith("nvvm.vote"):
        calls.call(name, "i32" if "ballot" in name else "i1", "i32", "i1")
    elif name == "amdgcn.ballot":
        width = "i64" if warp_size == 64 else "i32"
        calls.call(f"{name}.{width}", width, "i1")
    elif name in ("amdgcn.readlane", "amdgcn.readfirstlane"):
        calls.call(f"{name}.i32", "i32", *["i32"] * (2 if name.endswith("readlane") else 1))
    elif name.startswith("amdgcn."):
        calls.call(name, "i32", "i32", "i32")
    else:
        raise AssertionError(f"no call is known for {name}")


def _all_calls(target: Target) -> _Calls:
    """A call of every intrinsic that the table allows on `target`."""
    calls, backend = _Calls(), target.backend
    for group in _groups(target):
        for name in group.names:
            if name in ("fptosi.sat", "fptoui.sat"):
                _conversions(calls, name)
            elif name in ("scmp", "ucmp"):
                _three_way(calls, name)
            elif name in ("vector.reduce.fadd", "vector.reduce.fmul"):
                for suffix in ("f32", "f64"):
                    calls.call(f"{name}.v4{suffix}", _typed(suffix), _typed(suffix), f"<4 x {_typed(suffix)}>")
            elif name.startswith("vector.reduce."):
                for suffix in _FLOATS if ".f" in name else _INTEGERS:
                    calls.call(f"{name}.v4{suffix}", _typed(suffix), f"<4 x {_typed(suffix)}>")
            elif name == "get.active.lane.mask":
                calls.call("get.active.lane.mask.v4i1.i64", "<4 x i1>", "i64", "i64")
            elif name == "stepvector":
                calls.call("stepvector.v4i32", "<4 x i32>")
            elif group.reason == "what the vectorisers write":
                _vectors(calls, name)
            elif name.startswith("mem"):
                _copies(calls, name, backend)
            elif name.startswith(("lifetime.", "invariant.")):
                continue
            elif name.startswith(("nvvm.read", "amdgcn.work")):
                calls.call(name, "i32")
            elif name == "amdgcn.implicitarg.ptr":
                calls.call(name, "ptr addrspace(4)")
            elif name.startswith("coro."):
                continue
            elif name.startswith(("nvvm.", "amdgcn.")):
                _of_blocks(calls, name, target.warp_size)
            elif group.types is None or group.reason.startswith(("facts", "address")):
                _facts(calls, name)
            else:
                suffixes = [suffix for suffix in (*_FLOATS, *_INTEGERS, "i48") if refusal(f"llvm.{name}.{suffix}", backend) is None]
                assert suffixes, f"{name} is allowed on no type"
                for suffix in suffixes:
                    if name == "bswap" and suffix == "i8":
                        continue
                    _plain(calls, name, suffix, vector=False)
                    if suffix in ("f16", "f64", "i16"):
                        _plain(calls, name, suffix, vector=True)
    _lifetimes(calls, backend)
    return calls


@pytest.mark.parametrize(("backend", "name"), [(backend, name) for backend, names in _TARGETS.items() for name in names])
def test_every_row_becomes_instructions(backend: str, name: str) -> None:
    target = parse_target(name)
    calls = _all_calls(target)
    scope = "!9 = distinct !{!9, !8}\n!8 = distinct !{!8}\n"
    coroutine = _COROUTINE if backend == "cpu" else ""
    generated = generate(calls.ir(target) + coroutine + scope, kernel(target, "")[1], target)
    called = {
        declaration.partition("@")[2].partition("(")[0] for declaration in (*calls.declarations, *re.findall("declare .*", coroutine))
    }
    allowed = {f"llvm.{name}" for group in _groups(target) for name in group.names}
    assert {f"llvm.{split_name(name)[0]}" for name in called} == allowed
    assert len(generated.blobs[0].data) > 0


@pytest.mark.parametrize(
    ("name", "base", "types"),
    [
        ("llvm.minimum.f32", "minimum", ("f32",)),
        ("llvm.minimum.v8f32", "minimum", ("f32",)),
        ("llvm.vector.reduce.add.nxv4i32", "vector.reduce.add", ("i32",)),
        ("llvm.fptosi.sat.i32.f64", "fptosi.sat", ("i32", "f64")),
        ("llvm.masked.gather.v4f32.v4p0", "masked.gather", ("f32", "p0")),
        ("llvm.umul.with.overflow.i64", "umul.with.overflow", ("i64",)),
        ("llvm.nvvm.read.ptx.sreg.tid.x", "nvvm.read.ptx.sreg.tid.x", ()),
        ("llvm.assume", "assume", ()),
        ("llvm.i32", "i32", ()),
    ],
)
def test_name_is_split_into_base_and_types(name: str, base: str, types: tuple[str, ...]) -> None:
    assert split_name(name) == (base, types)


@pytest.mark.parametrize(
    ("name", "backend", "reason"),
    [
        ("llvm.sin.f32", "cuda", "not among the intrinsics"),
        ("llvm.exp.v8f32", "cpu", "not among the intrinsics"),
        ("llvm.pow.f64", "hip", "not among the intrinsics"),
        ("llvm.minnum.f32", "cuda", "not among the intrinsics"),
        ("llvm.fmuladd.f32", "cuda", "not among the intrinsics"),
        ("llvm.vector.reduce.fadd.v4f16", "cpu", "not allowed on f16"),
        ("llvm.fma.f16", "cpu", "not allowed on f16"),
        ("llvm.fma.v4f16", "cpu", "not allowed on f16"),
        ("llvm.floor.bf16", "cuda", "not allowed on bf16"),
        ("llvm.ctpop.i128", "hip", "not allowed on i128"),
        ("llvm.ctpop.i65", "hip", "not allowed on i65"),
        ("llvm.assume.i1", "cpu", "not allowed on i1"),
        ("llvm.nvvm.read.ptx.sreg.tid.x", "cpu", "belongs to the cuda backend"),
        ("llvm.amdgcn.workitem.id.y", "cuda", "belongs to the hip backend"),
    ],
)
def test_refusal_says_why(name: str, backend: str, reason: str) -> None:
    said = refusal(name, backend)
    assert said is not None
    assert reason in said


def test_an_architecture_without_an_intrinsic_is_named() -> None:
    said = refusal("llvm.nvvm.atomic.add.gen.i.sys.i32.p1", "cuda", (5, 2))
    assert said == "sm_52 does not have it; the first architecture that does is sm_60"
    assert refusal("llvm.nvvm.atomic.add.gen.i.sys.i32.p1", "cuda", (6, 0)) is None


def test_rows_are_unique_and_sorted_out() -> None:
    names = [name for group in GROUPS for name in group.names]
    assert len(names) == len(set(names))

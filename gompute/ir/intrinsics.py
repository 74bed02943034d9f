"""The LLVM intrinsics that a module may call, per backend, as data.

A row is here only if every backend that it names turns the intrinsic into instructions, without a call of a library, and if its result
is exact: the same bits on every target. That is why `llvm.sin` (a bare approximation on AMD, fatal on NVIDIA), `llvm.minnum` (either
zero may win), `llvm.fmuladd` (may or may not fuse) and `llvm.fma.f16` (rounds twice on a CPU) are not. A reduction of floats has an order
unless a flag of the call lets LLVM choose one, which `gompute.ir.verify` looks for.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["CPU_LARGEST_COPY", "GROUPS", "Group", "refusal", "split_name"]

_ALL = ("cuda", "hip", "cpu")

#: Longest constant length, in bytes, of a `llvm.memcpy`, `llvm.memmove` or `llvm.memset` on a CPU. LLVM 22 writes up to 256 bytes inline
#: for x86-64-v3 and aarch64 and calls the C library above that; half of it leaves room for other tunings. The GPU backends never call.
CPU_LARGEST_COPY = 128

_INTEGERS = r"i([1-9]|[1-5][0-9]|6[0-4])"
_FLOATS = r"f16|f32|f64"
_POINTERS = r"p[0-9]+"

_SYSTEM_ATOMICS = {"i": ("add", "and", "exch", "max", "min", "or", "xor"), "f": ("add",)}


class Group(NamedTuple):
    """Intrinsics that share a reason, element types and backends.

    Attributes:
        reason: why they are allowed.
        names: without the leading `llvm.` and without type suffixes.
        types: regular expression that each type suffix must match whole, a vector's by its element; None where there is no suffix.
        backends: those that may use them.
        approximate: they have another result on each backend, so only a kernel that was declared fast=True may use them.
        since: NVIDIA: the first architecture that has them; LLVM ends the process over an older one.
    """

    reason: str
    names: tuple[str, ...]
    types: str | None = None
    backends: tuple[str, ...] = _ALL
    since: tuple[int, int] = (0, 0)
    approximate: bool = False


GROUPS: tuple[Group, ...] = (
    Group(
        "IEEE 754 operations with one right result, an instruction or a short exact sequence everywhere",
        ("ceil", "copysign", "fabs", "floor", "is.fpclass", "maximum", "minimum", "nearbyint", "rint", "roundeven", "trunc"),
        _FLOATS,
    ),
    Group("correctly rounded, but in f16 some targets round twice or approximate", ("fma", "sqrt"), "f32|f64"),
    Group("conversions that saturate and take NaN to 0", ("fptosi.sat", "fptoui.sat"), rf"{_INTEGERS}|{_FLOATS}"),
    Group(
        "integer operations that wrap, saturate, count or reorder bits",
        (
            *("abs", "smax", "smin", "umax", "umin", "scmp", "ucmp"),
            *("bitreverse", "bswap", "ctlz", "ctpop", "cttz", "fshl", "fshr"),
            *("sadd.sat", "ssub.sat", "uadd.sat", "usub.sat"),
            *("sadd.with.overflow", "smul.with.overflow", "ssub.with.overflow"),
            *("uadd.with.overflow", "umul.with.overflow", "usub.with.overflow"),
        ),
        _INTEGERS,
    ),
    Group("facts for the optimiser; no code", ("assume", "experimental.noalias.scope.decl", "sideeffect", "donothing")),
    Group("facts for the optimiser; no code", ("expect", "expect.with.probability"), _INTEGERS),
    Group("facts for the optimiser; no code", ("invariant.end", "invariant.start", "lifetime.end", "lifetime.start"), _POINTERS),
    Group(
        "address arithmetic, and the table lookup that LLVM makes of a switch", ("load.relative", "ptrmask"), rf"{_POINTERS}|{_INTEGERS}"
    ),
    Group("copies, always written inline", ("memcpy.inline", "memset.inline"), rf"{_POINTERS}|{_INTEGERS}"),
    Group("copies; on a CPU of a small constant length only", ("memcpy", "memmove", "memset"), rf"{_POINTERS}|{_INTEGERS}"),
    Group(
        "what the vectorisers write",
        (
            *("masked.gather", "masked.load", "masked.scatter", "masked.store"),
            *("vector.extract", "vector.insert", "vector.reverse", "stepvector", "get.active.lane.mask"),
            *("vector.deinterleave2", "vector.interleave2"),
        ),
        rf"{_INTEGERS}|{_FLOATS}|{_POINTERS}",
    ),
    Group(
        "reductions of integers",
        tuple(f"vector.reduce.{name}" for name in ("add", "and", "mul", "or", "smax", "smin", "umax", "umin", "xor")),
        _INTEGERS,
    ),
    Group("reductions of floats in the order of the elements", ("vector.reduce.fadd", "vector.reduce.fmul"), "f32|f64"),
    Group("reductions of floats where order cannot show", ("vector.reduce.fmaximum", "vector.reduce.fminimum"), _FLOATS),
    Group(
        "coordinates of the running thread",
        tuple(f"nvvm.read.ptx.sreg.{register}.{axis}" for register in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
        backends=("cuda",),
    ),
    Group(
        "coordinates of the running work-item",
        tuple(f"amdgcn.{name}.id.{axis}" for name in ("workgroup", "workitem") for axis in "xyz"),
        backends=("hip",),
    ),
    Group(
        "atomic operations that other devices and the host see as such",
        tuple(f"nvvm.atomic.{name}.gen.{kind}.sys" for kind, names in _SYSTEM_ATOMICS.items() for name in names),
        r"i32|i64|f32|f64|p1",
        ("cuda",),
        since=(6, 0),
    ),
    Group("the number of a lane in its warp", ("nvvm.read.ptx.sreg.laneid",), backends=("cuda",)),
    Group(
        "exchanges within a warp",
        (
            *(f"nvvm.shfl.sync.{way}" for way in ("idx", "up", "down", "bfly")),
            *(f"nvvm.vote.{name}.sync" for name in ("all", "any", "ballot")),
        ),
        "i32",
        ("cuda",),
        since=(7, 0),
    ),
    Group("exchanges within a warp", ("amdgcn.ballot",), "i32|i64", ("hip",)),
    Group("exchanges within a warp", ("amdgcn.ds.bpermute", "amdgcn.mbcnt.hi", "amdgcn.mbcnt.lo"), backends=("hip",)),
    Group("what LLVM makes of an exchange with one lane", ("amdgcn.readfirstlane", "amdgcn.readlane"), "i32", ("hip",)),
    Group(
        "work-items as coroutines; no code",
        ("coro.begin", "coro.done", "coro.end", "coro.id", "coro.resume", "coro.suspend"),
        backends=("cpu",),
    ),
    Group("work-items as coroutines; no code", ("coro.size",), "i64", ("cpu",)),
    Group("waits for the block", ("nvvm.barrier.cta.sync.aligned.all",), backends=("cuda",)),
    Group("waits for the block", ("amdgcn.s.barrier",), backends=("hip",)),
    Group("a function as the hardware has it", ("nvvm.ex2.approx",), "f32", ("cuda",), approximate=True),
    Group("a function as the hardware has it", ("tanh",), "f32", ("cuda",), since=(8, 0), approximate=True),
    Group(
        "a function as the hardware has it",
        tuple(f"nvvm.{name}.approx.f" for name in ("cos", "lg2", "rsqrt", "sin", "sqrt")),
        backends=("cuda",),
        approximate=True,
    ),
    Group(
        "a function as the hardware has it",
        tuple(f"amdgcn.{name}" for name in ("cos", "exp2", "fract", "log", "rsq", "sin", "sqrt")),
        "f32",
        ("hip",),
        approximate=True,
    ),
    Group("block size and block count of the dispatch", ("amdgcn.implicitarg.ptr",), backends=("hip",)),
)

_BY_NAME = {name: group for group in GROUPS for name in group.names}

_SUFFIX = re.compile(r"(?:nx)?(?:v[0-9]+)?(i[0-9]+|bf16|f16|f32|f64|f80|f128|ppcf128|p[0-9]+)")


def split_name(name: str) -> tuple[str, tuple[str, ...]]:
    """Split an intrinsic's name into its base and the element types of its suffixes.

    `llvm.masked.load.v8f32.p0` gives (`masked.load`, (`f32`, `p0`)).
    """
    parts = name.removeprefix("llvm.").split(".")
    types: list[str] = []
    while len(parts) > 1 and (match := _SUFFIX.fullmatch(parts[-1])) is not None:
        types.append(match[1])
        parts.pop()
    return ".".join(parts), tuple(reversed(types))


def refusal(name: str, backend: str, number: tuple[int, ...] | None = None, *, fast: bool = False) -> str | None:
    """Why `backend` may not call the intrinsic `name` (with its `llvm.`), of NVIDIA for the architecture of that number where one is given;
    None where it may. Lengths of copies are not looked at.

    Args:
        fast: the kernels ask for the hardware's approximations.
    """
    base, types = split_name(name)
    group = _BY_NAME.get(base)
    if group is None:
        return "it is not among the intrinsics that are exact and need no library on every target"
    if backend not in group.backends:
        return f"it belongs to the {' and '.join(group.backends)} backend, and this is {backend}"
    if group.approximate and not fast:
        return "it is an approximation of the hardware, which a kernel uses only where it is declared with fast=True"
    if number is not None and backend == "cuda" and number < group.since:
        return f"sm_{number[0]}{number[1]} does not have it; the first architecture that does is sm_{group.since[0]}{group.since[1]}"
    for suffix in types:
        if group.types is None or re.fullmatch(group.types, suffix) is None:
            return f"it is not allowed on {suffix}"
    return None

"""Control flow, memory, calls, barriers: what threads do together."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx.faults import Deadlock, PtxError, Trapped, Undefined, Unknown
from tests.ptx.parse import parse
from tests.ptx.snippets import HEAD, launch, module

_STORE = "shl.b64 %rd1, %rd0, 2; add.s64 %rd2, %a0, %rd1; st.global.b32 [%rd2], %r9;"


def ran(body: str, count: int = 64, block: int = 64, **parts: str) -> np.ndarray:
    """What each thread leaves in %r9."""
    out = np.full(count, -1, np.int32)
    launch(module(f"{body}\n{_STORE}", **parts), [out], count // block, block)
    return out


def test_threads_part_and_meet_again() -> None:
    body = """
    setp.lt.s32 %p1, %r3, 20;
    @%p1 bra LOW;
    mov.b32 %r9, 100;
    bra.uni JOIN;
LOW:
    mov.b32 %r9, 200;
JOIN:
    activemask.b32 %r10;
    popc.b32 %r10, %r10;
    add.s32 %r9, %r9, %r10;
    """
    assert ran(body).tolist() == [232] * 20 + [132] * 44


def test_loops_of_different_lengths() -> None:
    body = """
    mov.b32 %r9, 0;
    mov.b32 %r10, %r3;
LOOP:
    setp.eq.s32 %p1, %r10, 0;
    @%p1 bra DONE;
    add.s32 %r9, %r9, %r10;
    add.s32 %r10, %r10, -1;
    bra LOOP;
DONE:
    """
    assert ran(body).tolist() == [i * (i + 1) // 2 for i in range(64)]


def test_an_instruction_under_a_guard_leaves_the_others_alone() -> None:
    body = "mov.b32 %r9, 7; setp.gt.s32 %p1, %r3, 31; @%p1 add.s32 %r9, %r9, %r3; @!%p1 mov.b32 %r9, 1;"
    assert ran(body).tolist() == [1] * 32 + [7 + i for i in range(32, 64)]


def test_a_copy_of_a_register_keeps_its_value() -> None:
    body = "mov.b32 %r9, %r3; mov.b32 %r10, %r9; setp.gt.s32 %p1, %r3, 31; @%p1 mov.b32 %r10, 0;"
    assert ran(body).tolist() == list(range(64))


def test_a_branch_through_a_table() -> None:
    body = """
    rem.u32 %r10, %r3, 3;
TABLE: .branchtargets A, B, C;
    brx.idx %r10, TABLE;
A:  mov.b32 %r9, 5; bra.uni JOIN;
B:  mov.b32 %r9, 6; bra.uni JOIN;
C:  mov.b32 %r9, 7;
JOIN:
    """
    assert ran(body).tolist() == [5 + i % 3 for i in range(64)]


_CALLEE = """
.func (.param .b32 square_retval0) square(.param .b32 square_param_0)
{
.reg .b32 %r<3>; .reg .pred %p<2>;
.local .align 4 .b8 depot[8];
.reg .b64 %rd<3>;
ld.param.b32 %r1, [square_param_0];
setp.lt.s32 %p1, %r1, 10;
@%p1 bra EARLY;
mov.b64 %rd1, depot;
cvta.local.u64 %rd2, %rd1;
mul.lo.s32 %r1, %r1, %r1;
st.b32 [%rd2+4], %r1;
ld.local.b32 %r2, [%rd1+4];
st.param.b32 [square_retval0], %r2;
ret;
EARLY:
mov.b32 %r2, -3;
st.param.b32 [square_retval0], %r2;
ret;
}
"""


def test_calls_with_local_memory() -> None:
    call = """
    { // callseq
    .param .b32 param0;
    .param .b32 retval0;
    st.param.b32 [param0], %r3;
    call.uni (retval0), square, (param0);
    ld.param.b32 %r9, [retval0];
    }
    """
    twice = call + "mov.b32 %r3, %r9;" + call.replace("st.param.b32 [param0], %r3", "add.s32 %r3, %r3, 1; st.param.b32 [param0], %r3")

    def square(x: int) -> int:
        return -3 if x < 10 else x * x

    found = ran(twice, before=_CALLEE)
    assert found.tolist() == [square(square(i) + 1) for i in range(64)]


def test_shared_memory_and_a_barrier() -> None:
    """Each thread reads what another one wrote; blocks have memory of their own."""
    body = """
    mov.b64 %rd5, tile;
    mul.wide.u32 %rd6, %r2, 4;
    add.s64 %rd6, %rd5, %rd6;
    st.shared.b32 [%rd6], %r3;
    bar.sync 0;
    sub.s32 %r10, 63, %r2;
    mul.wide.u32 %rd6, %r10, 4;
    add.s64 %rd6, %rd5, %rd6;
    cvta.shared.u64 %rd7, %rd6;
    ld.b32 %r9, [%rd7];
    """
    found = ran(body, 256, inside=".shared .align 4 .b8 tile[256];")
    assert found.tolist() == [block * 64 + 63 - i for block in range(4) for i in range(64)]


def test_dynamic_shared_memory() -> None:
    body = "mov.b64 %rd5, extra; mul.wide.u32 %rd6, %r2, 4; add.s64 %rd6, %rd5, %rd6; st.shared.b32 [%rd6], %r3; ld.shared.b32 %r9, [%rd6];"
    text = module(f"{body}\n{_STORE}", before=".extern .shared .align 16 .b8 extra[];")
    out = np.zeros(64, np.int32)
    launch(text, [out], 1, 64, shared=256)
    assert out.tolist() == list(range(64))
    with pytest.raises(Undefined, match="shared memory at 0xfc; there are 252 bytes"):
        launch(text, [out], 1, 64, shared=252)


def test_a_barrier_waits_for_threads_that_come_later_and_not_for_those_that_left() -> None:
    body = """
    setp.gt.s32 %p1, %r2, 40;
    @%p1 exit;
    setp.lt.s32 %p1, %r2, 32;
    mov.b32 %r9, 0;
    @%p1 bra SYNC;
    mov.b32 %r9, 10;
SYNC:
    bar.sync 0;
    """
    assert ran(body).tolist() == [0] * 32 + [10] * 9 + [-1] * 23


def test_a_barrier_that_some_never_reach_is_a_deadlock() -> None:
    body = """
    mov.b32 %r9, 0;
    setp.lt.s32 %p1, %r2, 32;
    @%p1 bra OTHER;
    bar.sync 1;
    bra.uni JOIN;
OTHER:
    bar.sync 2;
JOIN:
    """
    with pytest.raises(Deadlock, match="bar.sync"):
        ran(body)


def test_an_aligned_barrier_parts_no_warp() -> None:
    body = """
    mov.b32 %r9, 0;
    setp.lt.s32 %p1, %r2, 16;
    @%p1 bra OTHER;
    bar.sync 0;
    bra.uni JOIN;
OTHER:
    bar.sync 0;
JOIN:
    """
    with pytest.raises(Undefined, match="aligned barrier"):
        ran(body)
    assert ran(body.replace("bar.sync", "barrier.sync")).tolist() == [0] * 64


def test_a_barrier_that_counts() -> None:
    body = "setp.lt.s32 %p1, %r3, 70; bar.red.popc.u32 %r9, 0, %p1;"
    assert ran(body, 192).tolist() == [64] * 64 + [6] * 64 + [0] * 64


def test_large_launches_run_in_parts() -> None:
    assert ran("mov.b32 %r9, %r3;", 1 << 17, 1024).tolist() == list(range(1 << 17))


# ---- what is refused ----


@pytest.mark.parametrize(
    ("body", "fault", "text"),
    [
        ("mov.b32 %r9, %r8;", Undefined, "the register %r8 is read before it is written"),
        ("setp.lt.s32 %p1, %r3, 9; @%p1 mov.b32 %r9, 1;", Undefined, "the register %r9 is read before it is written"),
        ("ld.global.b32 %r9, [%a0+256];", Undefined, "an access of 4 bytes to"),
        ("ld.global.b32 %r9, [%a0+-4];", Undefined, "an access"),
        ("ld.global.b32 %r9, [%a0+2];", Undefined, "not aligned"),
        ("ld.global.v2.b32 {%r9, %r8}, [%a0+4];", Undefined, "not aligned"),
        ("mov.b64 %rd5, 0; ld.local.b32 %r9, [%rd5];", Undefined, "local memory"),
        ("ld.global.nc.b32 %r9, [%a0]; st.global.b32 [%a0], %r9;", Undefined, "read with ld.global.nc"),
        ("st.global.b32 [%a0], %r3; ld.global.nc.b32 %r9, [%a0];", Undefined, "has written"),
        ("trap;", Trapped, "trap"),
        ("L: bra L;", Deadlock, "a loop does not end"),
        ("ex2.approx.f32 %r9, %r3;", Unknown, "an approximation"),
        ("div.full.f32 %r9, %r3, %r3;", Unknown, "the modifiers full"),
        ("add.f32 %r9, %r3, %r3;", Unknown, "without a rounding mode"),
        ("add.rn.ftz.f32 %r9, %r3, %r3;", Unknown, "the modifiers ftz"),
        ("min.NaN.f64 %rd1, %rd0, %rd0;", Unknown, "f64 do not propagate"),
        ("frobnicate.b32 %r9, %r3;", Unknown, "the instruction is not known"),
        ("ld.weird.b32 %r9, [%a0];", Unknown, "the modifiers weird"),
        ("setp.lo.s32 %p1, %r3, 1;", Unknown, "no such comparison"),
        ("shfl.down.b32 %r9, %r3, 1, 31;", Unknown, "the modifiers down"),
        ("mov.u32 %r9, %clock;", Unknown, "the special register %clock"),
        ("bar.sync 0, 32; mov.b32 %r9, 0;", Unknown, "only barriers of all threads"),
        ("call.uni nowhere;", PtxError, "nowhere is not defined"),
        ("bra NOWHERE;", PtxError, "no such label"),
    ],
)
def test_a_refusal(body: str, fault: type[PtxError], text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.ptx.machine.MOST_STEPS", 1000)
    with pytest.raises(fault, match=text) as caught:
        ran(body)
    assert type(caught.value) is fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"{HEAD}.global .surfref s;", "surfref is not known"),
        (f"{HEAD}.tex .u64 t;", "the directive '.tex' is not known"),
        (f"{HEAD}.visible .entry k() {{ .reg .b128 %q<2>; ret; }}", "the type .b128 is not known"),
        (f"{HEAD}.visible .entry k() {{ .maxnreg 3; ret; }}", "the directive .maxnreg is not known"),
        (f"{HEAD}.extern .global .b32 x;", "the variable x is defined elsewhere"),
        (f"{HEAD}.visible .entry k() {{ add.s32 %nothing ? 3; }}", "is no PTX"),
        (f'{HEAD}.visible .entry k() {{ .pragma "unroll"; ret; }}', "the pragma"),
    ],
)
def test_syntax_that_is_not_known(text: str, fault: str) -> None:
    with pytest.raises(PtxError, match=fault):
        parse(text)


def test_a_block_that_the_kernel_does_not_take() -> None:
    text = module("ret;").replace(".maxntid 1024", ".reqntid 64, 1, 1")
    with pytest.raises(PtxError, match="where .reqntid says"):
        launch(text, [np.zeros(1, np.int32)], 1, 32)


def test_a_constant_is_read_only() -> None:
    table = ".const .align 4 .b32 table[2] = {7, 9};"
    assert ran("mov.b64 %rd5, table; ld.const.b32 %r9, [%rd5+4];", before=table).tolist() == [9] * 64
    with pytest.raises(Undefined, match="reaches const memory"):
        ran("mov.b64 %rd5, table; ld.global.b32 %r9, [%rd5+4];", before=table)
    with pytest.raises(Undefined, match="reaches const memory"):
        ran("mov.b64 %rd5, table; mov.b32 %r9, 0; st.global.b32 [%rd5], %r9;", before=table)

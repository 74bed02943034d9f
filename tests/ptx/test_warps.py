"""Between the threads of a warp, and atomics."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ptx.faults import Deadlock, Undefined
from tests.ptx.snippets import launch, module
from tests.ptx.test_machine import ran

ALL = "0xffffffff"


def test_shuffles() -> None:
    """Warps of 32; lanes outside a segment keep their own value."""
    lanes = range(32)
    wanted = {
        "shfl.sync.down.b32 %r9, %r3, 3, 31": [i + 3 if i + 3 < 32 else i for i in lanes],
        "shfl.sync.up.b32 %r9, %r3, 3, 0": [i - 3 if i >= 3 else i for i in lanes],
        "shfl.sync.bfly.b32 %r9, %r3, 5, 31": [i ^ 5 for i in lanes],
        "shfl.sync.idx.b32 %r9, %r3, 7, 31": [7 for _ in lanes],
        # Segments of 8 lanes: bits 8 to 12 of the third operand hold them, bits 0 to 4 the last lane.
        "shfl.sync.down.b32 %r9, %r3, 2, 6175": [i + 2 if i % 8 + 2 < 8 else i for i in lanes],
        "shfl.sync.idx.b32 %r9, %r3, 1, 6175": [i // 8 * 8 + 1 for i in lanes],
    }
    for instruction, expected in wanted.items():
        found = ran(f"{instruction}, {ALL};")
        assert found.tolist() == [*expected, *(32 + value for value in expected)], instruction


def test_a_shuffle_says_which_lanes_were_inside() -> None:
    assert ran(f"shfl.sync.down.b32 %r10|%p1, %r3, 8, 31, {ALL}; selp.b32 %r9, 1, 0, %p1;").tolist() == ([1] * 24 + [0] * 8) * 2


def test_votes() -> None:
    body = f"setp.lt.s32 %p1, %r3, 40; vote.sync.ballot.b32 %r9, %p1, {ALL};"
    assert ran(body).view(np.uint32).tolist() == [2**32 - 1] * 32 + [255] * 32
    for mode, wanted in {"all": [1, 0], "any": [1, 1], "uni": [1, 0]}.items():
        body = f"setp.lt.s32 %p1, %r3, 40; vote.sync.{mode}.pred %p2, %p1, {ALL}; selp.b32 %r9, 1, 0, %p2;"
        assert ran(body).tolist() == [wanted[0]] * 32 + [wanted[1]] * 32
    assert ran(f"setp.lt.s32 %p1, %r3, 40; vote.sync.any.pred %p2, !%p1, {ALL}; selp.b32 %r9, 1, 0, %p2;").tolist() == [0] * 32 + [1] * 32


def test_matches_and_reductions() -> None:
    assert ran(f"and.b32 %r10, %r3, 1; match.any.sync.b32 %r9, %r10, {ALL};").view(np.uint32).tolist() == [0x55555555, 0xAAAAAAAA] * 32
    assert ran(f"redux.sync.add.u32 %r9, %r3, {ALL};").tolist() == [sum(range(32))] * 32 + [sum(range(32, 64))] * 32
    assert ran(f"redux.sync.max.s32 %r9, %r3, {ALL};").tolist() == [31] * 32 + [63] * 32


def test_threads_wait_for_those_that_their_mask_names() -> None:
    """The lanes have parted; the instruction is one, reached by two ways."""
    body = f"""
    setp.lt.s32 %p1, %r2, 16;
    mov.b32 %r10, %r3;
    @%p1 bra MEET;
    add.s32 %r10, %r10, 100;
    bra.uni MEET;
MEET:
    shfl.sync.bfly.b32 %r9, %r10, 16, 31, {ALL};
    """
    assert ran(body, 32, 32).tolist() == [i + 16 + 100 for i in range(16)] + list(range(16))


def test_a_mask_that_names_a_thread_which_never_comes_is_a_deadlock() -> None:
    body = f"""
    mov.b32 %r9, 0;
    setp.lt.s32 %p1, %r2, 16;
    @%p1 bra AWAY;
    shfl.sync.bfly.b32 %r9, %r3, 1, 31, {ALL};
    bra.uni DONE;
AWAY:
    barrier.sync 1;
DONE:
    """
    with pytest.raises(Deadlock, match="shfl"):
        ran(body, 32, 32)


def test_a_thread_outside_its_own_mask_is_refused() -> None:
    with pytest.raises(Undefined, match="leaves it out"):
        ran("setp.lt.s32 %p1, %r3, 9; vote.sync.ballot.b32 %r9, %p1, 0xffff;")


def test_exited_threads_are_not_waited_for() -> None:
    body = f"setp.gt.s32 %p1, %r2, 15; @%p1 exit; setp.lt.s32 %p1, %r3, 99; vote.sync.ballot.b32 %r9, %p1, {ALL};"
    assert ran(body, 32, 32).tolist() == [0xFFFF] * 16 + [-1] * 16


# ---- atomics ----


@pytest.mark.parametrize(
    ("instruction", "start", "wanted"),
    [
        ("atom.global.add.u32 %r9, MEMORY, %r3;", np.array([5], np.uint32), 5 + sum(range(96))),
        ("red.relaxed.gpu.global.add.u32 MEMORY, %r3;", np.array([5], np.uint32), 5 + sum(range(96))),
        ("atom.add.u64 %rd9, MEMORY, %rd0;", np.array([2**40], np.uint64), 2**40 + sum(range(96))),
        ("atom.global.min.s32 %r9, MEMORY, %r3;", np.array([7], np.int32), 0),
        ("atom.global.max.s32 %r9, MEMORY, %r3;", np.array([-7], np.int32), 95),
        ("atom.global.max.u64 %rd9, MEMORY, %rd0;", np.array([3], np.uint64), 95),
        ("atom.global.or.b32 %r9, MEMORY, %r3;", np.array([0], np.uint32), 127),
        ("atom.global.and.b32 %r9, MEMORY, %r3;", np.array([255], np.uint32), 0),
        ("atom.global.xor.b32 %r9, MEMORY, %r3;", np.array([9], np.uint32), 9),
        ("atom.global.inc.u32 %r9, MEMORY, 9;", np.array([0], np.uint32), 96 % 10),
        ("atom.global.dec.u32 %r9, MEMORY, 9;", np.array([0], np.uint32), -96 % 10),
        ("atom.acq_rel.sys.global.exch.b32 %r9, MEMORY, 12;", np.array([0], np.uint32), 12),
        ("mov.b32 %r10, 0f3F800000; atom.global.add.f32 %r9, MEMORY, %r10;", np.array([0.5], np.float32), 96.5),
        ("mov.b64 %rd5, 0d3FF0000000000000; red.global.add.f64 MEMORY, %rd5;", np.array([0.25]), 96.25),
    ],
)
def test_atomics(instruction: str, start: np.ndarray, wanted: float) -> None:
    launch(module(instruction.replace("MEMORY", "[%a0]")), [start], 1, 96)
    assert start[0] == wanted


def test_an_atomic_gives_what_was_there() -> None:
    found = ran("atom.global.add.u32 %r9, [%a0+252], 1; bar.sync 0;")
    assert sorted(found[:63].tolist()) == list(range(-1, 62))


def test_compare_and_swap_lets_one_win() -> None:
    body = """
    setp.eq.s32 %p1, %r2, 0;
    mov.b64 %rd5, cell;
    @%p1 st.shared.b32 [%rd5], %r2;
    bar.sync 0;
    add.s32 %r10, %r2, 1;
    atom.shared.cas.b32 %r9, [%rd5], 0, %r10;
    """
    found = ran(body, 128, inside=".shared .align 4 .b8 cell[4];")
    for block in found.reshape(2, 64):
        assert np.count_nonzero(block == 0) == 1
        assert len(set(block.tolist())) == 2


def test_blocks_count_in_memory_of_their_own() -> None:
    body = """
    mov.b64 %rd5, cell;
    mov.b32 %r9, 0;
    st.shared.b32 [%rd5], %r9;
    bar.sync 0;
    atom.shared.add.u32 %r10, [%rd5], %r2;
    bar.sync 0;
    ld.shared.b32 %r9, [%rd5];
    """
    assert ran(body, 256, inside=".shared .align 4 .b8 cell[4];").tolist() == [sum(range(64))] * 256

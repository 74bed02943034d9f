"""Counted loops over i64."""

from __future__ import annotations

from collections.abc import Callable

from gompute.frontend.irtext.text import FunctionText

__all__ = ["counted"]


def counted(text: FunctionText, start: str, stop: str, body: Callable[[str], None], step: str = "1", suffix: str = "") -> None:
    """Emit ``body(i)`` for i from `start` by `step`, at least 1, while i < `stop`; all are unsigned, and `stop` + `step` fits 64 bits.

    Args:
        suffix: metadata of the loop, to attach to its jump back.
    """
    before = text.block
    head, turn, following, done = (text.new_block(purpose) for purpose in ("head", "turn", "next", "done"))
    text.start(head)
    index = text.value(f"phi i64 [ {start}, %{before} ], [ %{following}.i, %{following} ]")
    text.branch_if(text.value(f"icmp ult i64 {index}, {stop}"), turn, done)
    text.start(turn)
    body(index)
    text.start(following)
    text.effect(f"%{following}.i = add nuw i64 {index}, {step}")
    text.branch(head, suffix)
    text.start(done)

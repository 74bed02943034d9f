"""The way that most launches of a raw kernel go, written out for the kernel's signature.

A launch costs the host little more than the driver's call takes, or several times that: each call of a Python function on the way counts.
So this is source with the checks of every argument in their place. What is not as usual (another type, other sizes than in the launch
before, a capture, a handle or a device that is gone) goes the careful way, which has the words for what is wrong.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, TypeAlias

from gompute.artifacts.entry import ArgumentEntry
from gompute.handles.packing import Frame, Packing
from gompute.lang.types import SCALARS
from gompute.runtime import status
from gompute.runtime.context import DeviceKernel, Gpu
from gompute.runtime.launcher import Prepared

__all__ = ["NOTHING", "Ready", "ReadyFrame", "quick_launch"]

#: Grid, block and shared memory as a caller gave them last, the queue, and free frames.
_Now: TypeAlias = tuple[object, object, object, object, list["ReadyFrame"]]

#: What no launch is like.
NOTHING: _Now = (object(), object(), object(), object(), [])

_SOURCE = """\
def launch({parameters}*rest, shared=0, stream=None, **named):
    frame = None
    try:
        old_grid, old_block, old_shared, lane, frames = ready.now
        if (
            (grid is old_grid or (type(grid) is type(old_grid) and grid == old_grid))
            and (block is old_block or (type(block) is type(old_block) and block == old_block))
            and (shared is old_shared or (type(shared) is int and shared == old_shared))
            and (lane is default if stream is None else stream._lane is lane and stream._capture is None)
            and gpu.quick
            and not rest
            and not named
{checks}
        ):
            frame = frames.pop()
            pack(frame.storage, 0, {values})
    except refusals:
        frame = None
    if frame is None:
        given = [value for value in ({positional}) if value is not missing]
        return carefully(*given, *rest, shared=shared, stream=stream, **named)
    code = call(*frame.call)
    if code:
        refused(code, frame.launch)
    else:
        if noted:
            clear()
        lane.launches += 1
        lane.names.append(symbol)
    frames.append(frame)
"""

#: What tells that an argument is not as usual: it is something else, it does not fit, or no frame is left.
_REFUSALS = (AttributeError, IndexError, OverflowError, ValueError, struct.error)


class ReadyFrame(Frame):
    """A frame and the launch that reads it.

    Attributes:
        call: the arguments of the driver's function.
    """

    __slots__ = ("call", "launch")

    def __init__(self, packing: Packing) -> None:
        super().__init__(packing)
        self.launch: Prepared | None = None
        self.call: tuple[Any, ...] = ()

    def prepare(self, launch: Prepared) -> None:
        """Makes the frame that launch's."""
        self.launch = launch
        self.call = launch.arguments


class Ready:
    """The sizes of the last launch with frames that are ready for them."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = NOTHING


def quick_launch(
    ready: Ready,
    carefully: Callable[..., None],
    kernel: DeviceKernel,
    gpu: Gpu,
    arguments: Sequence[ArgumentEntry],
    readers: Sequence[Callable[[Any], Any]],
    pack: Callable[..., None],
) -> Callable[..., None]:
    """A function with the meaning of `carefully` that takes the usual launch to the driver in one step.

    Args:
        ready: what `carefully` keeps for the launches after it. A launch takes a frame from there and puts it back, so that launches from
            several threads do not write over each other's arguments.
        arguments, readers: what the kernel takes, and from what a caller passes for each to what `pack` takes.
    """
    names = [f"a{place}" for place in range(len(arguments))]
    checks, values = [], []
    for name, argument in zip(names, arguments, strict=True):
        check, value = _inline(name, argument)
        checks += [check] if check else []
        values.append(value)
    positional = ["grid", "block", *names]
    source = _SOURCE.format(
        parameters=", ".join(f"{name}=missing" for name in positional) + ", /, ",
        positional=", ".join(positional),
        checks="\n".join(f"            and {check}" for check in checks),
        values=", ".join(values),
    )
    scope: dict[str, Any] = {
        "call": kernel.launcher.call,
        "carefully": carefully,
        "clear": status.clear,
        "default": gpu.default,
        "gpu": gpu,
        "missing": object(),
        "noted": status.noted,
        "pack": pack,
        "ready": ready,
        "refused": kernel.refused,
        "refusals": _REFUSALS,
        "symbol": kernel.symbol,
        **{f"read_{name}": reader for name, reader in zip(names, readers, strict=True)},
    }
    exec(_compiled(source), scope)
    made: Callable[..., None] = scope.pop("launch")
    return made


@lru_cache(maxsize=64)
def _compiled(source: str) -> CodeType:
    return compile(source, "<gompute launch>", "exec")


def _inline(name: str, argument: ArgumentEntry) -> tuple[str, str]:
    """The check of an argument of the usual kind, empty where there is none, and what is packed for it. What does not fit is refused by
    the packing."""
    if argument.kind == "pointer":
        # Nothing but a buffer has such a memory; of one that is freed the address is None.
        return f"{name}.memory is gpu", f"{name}.address"
    if argument.kind == "scalar":
        kind = SCALARS[argument.dtype]
        if kind.is_integer:
            return "", name
        if argument.dtype in ("f32", "f64"):
            return f"type({name}) is float", name
    return "", f"{'*' if argument.kind == 'array' else ''}read_{name}({name})"

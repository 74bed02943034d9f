"""What the work-items of a block do together inside raw kernels: shared memory, barriers, atomic operations, and warps.

The compiler knows these functions by identity; on the host they refuse.

A warp is the work-items of a block that run in step: `warp_size` of them, numbered by `local_id`, the first dimension fastest; 32 or 64 on
a GPU, by the target, and 1 on the CPU, where an exchange within a warp gives back what came in. Every work-item of a warp that has not
returned must reach the same call, or say in `mask` (a bit for each lane) which ones do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from gompute.errors import Unsupported
from gompute.lang.builtins import only_in_a_kernel

if TYPE_CHECKING:
    from gompute.lang.names import array, ptr

__all__ = [
    "ATOMICS",
    "WARP_OPERATIONS",
    "WarpSize",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_exchange",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xor",
    "ballot",
    "barrier",
    "dynamic_shared",
    "lane_id",
    "shared",
    "shuffle",
    "shuffle_down",
    "shuffle_up",
    "shuffle_xor",
    "warp_all",
    "warp_any",
    "warp_size",
]

T = TypeVar("T")
Scope = Literal["block", "device", "system"]


def shared(element: type[T], shape: int | tuple[int, ...]) -> array[T, Any]:
    """An array that the block's work-items share, of a length or a shape in constants: ``tile = g.shared(f32, (16, 17))``.

    It is not cleared, and made once for the block: the line stands outside branches and loops.
    """
    only_in_a_kernel("shared")


def dynamic_shared(element: type[T]) -> ptr[T]:
    """The block's shared memory whose size the launch gives: ``scratch = g.dynamic_shared(f32)`` with ``launch(..., shared=bytes)``.

    It is not cleared. Every call names the same memory, so that two types share it from its first byte on.
    """
    only_in_a_kernel("dynamic_shared")


def barrier() -> None:
    """Wait until every work-item of the block is here, and see what the others wrote before. Work-items that have returned are not waited
    for; all others must reach the same barrier."""
    only_in_a_kernel("barrier")


def atomic_add(place: ptr[T] | array[T, Any], index: int | tuple[int, ...], value: T, *, scope: Scope = "device") -> T:
    """``place[index] += value`` with nothing in between; gives the element from before.

    Atomic operations work on i32, u32, i64, u64, f32 and f64 (bitwise ones on integers), in global and shared memory, and order no other
    access. `scope` says who else may be at work on the element: the ``block``, the ``device``, or other devices and the host too
    (``system``). Integers wrap. The order of float additions is open, so their sum may differ in its last digits from run to run.
    """
    only_in_a_kernel("atomic_add")


def atomic_min(place: ptr[T] | array[T, Any], index: int | tuple[int, ...], value: T, *, scope: Scope = "device") -> T:
    """``place[index] = min(place[index], value)`` as `atomic_add`."""
    only_in_a_kernel("atomic_min")


def atomic_max(place: ptr[T] | array[T, Any], index: int | tuple[int, ...], value: T, *, scope: Scope = "device") -> T:
    """``place[index] = max(place[index], value)`` as `atomic_add`."""
    only_in_a_kernel("atomic_max")


def atomic_and(place: ptr[T] | array[T, Any], index: int | tuple[int, ...], value: T, *, scope: Scope = "device") -> T:
    """``place[index] &= value`` as `atomic_add`; integers only."""
    only_in_a_kernel("atomic_and")


def atomic_or(place: ptr[T] | array[T, Any], index: int | tuple[int, ...], value: T, *, scope: Scope = "device") -> T:
    """``place[index] |= value`` as `atomic_add`; integers only."""
    only_in_a_kernel("atomic_or")


def atomic_xor(place: ptr[T] | array[T, Any], index: int | tuple[int, ...], value: T, *, scope: Scope = "device") -> T:
    """``place[index] ^= value`` as `atomic_add`; integers only."""
    only_in_a_kernel("atomic_xor")


def atomic_exchange(place: ptr[T] | array[T, Any], index: int | tuple[int, ...], value: T, *, scope: Scope = "device") -> T:
    """``place[index] = value`` as `atomic_add`."""
    only_in_a_kernel("atomic_exchange")


def atomic_cas(place: ptr[T] | array[T, Any], index: int | tuple[int, ...], expected: T, value: T, *, scope: Scope = "device") -> T:
    """``place[index] = value`` where the element has the bits of `expected`; gives the element from before, as `atomic_add`."""
    only_in_a_kernel("atomic_cas")


#: The typed tree's name of each atomic function.
ATOMICS = {
    "add": atomic_add,
    "min": atomic_min,
    "max": atomic_max,
    "and": atomic_and,
    "or": atomic_or,
    "xor": atomic_xor,
    "exchange": atomic_exchange,
    "cas": atomic_cas,
}


class WarpSize:
    """The type of `warp_size`: a constant of the target in a kernel, and no number on the host."""

    def _refuse(self, *_: object) -> NoReturn:
        raise Unsupported("warp_size is known only while a kernel is compiled; read it inside a kernel")

    __int__ = __index__ = __float__ = __bool__ = __neg__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = _refuse
    __mod__ = __rmod__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse


#: Work-items of a warp: 32 or 64 on a GPU, by the target, 1 on the CPU.
warp_size: int = WarpSize()  # type: ignore[assignment]


def lane_id() -> int:
    """The number of this work-item in its warp, as u64."""
    only_in_a_kernel("lane_id")


def shuffle(value: T, lane: int, *, mask: int | None = None) -> T:
    """The `value` of the work-item with that lane, counted modulo `warp_size`; of any scalar type. Of a lane that is not there it is
    undefined."""
    only_in_a_kernel("shuffle")


def shuffle_up(value: T, delta: int, *, mask: int | None = None) -> T:
    """The `value` of the lane `delta` (modulo `warp_size`) below; one's own where there is none."""
    only_in_a_kernel("shuffle_up")


def shuffle_down(value: T, delta: int, *, mask: int | None = None) -> T:
    """The `value` of the lane `delta` (modulo `warp_size`) above; one's own where there is none."""
    only_in_a_kernel("shuffle_down")


def shuffle_xor(value: T, lane_mask: int, *, mask: int | None = None) -> T:
    """The `value` of the lane whose number differs in the bits of `lane_mask` (modulo `warp_size`)."""
    only_in_a_kernel("shuffle_xor")


def ballot(condition: bool, *, mask: int | None = None) -> int:
    """A u64 with a bit for each lane: set where its `condition` holds."""
    only_in_a_kernel("ballot")


def warp_any(condition: bool, *, mask: int | None = None) -> bool:
    """Whether `condition` holds in any lane."""
    only_in_a_kernel("warp_any")


def warp_all(condition: bool, *, mask: int | None = None) -> bool:
    """Whether `condition` holds in every lane."""
    only_in_a_kernel("warp_all")


#: The typed tree's name of each warp function.
WARP_OPERATIONS = {
    "shuffle": shuffle,
    "shuffle_up": shuffle_up,
    "shuffle_down": shuffle_down,
    "shuffle_xor": shuffle_xor,
    "ballot": ballot,
    "any": warp_any,
    "all": warp_all,
}

"""Sizes of grids and blocks."""

from __future__ import annotations

import operator
from typing import NamedTuple, TypeAlias

from gompute.errors import InvalidArgument

__all__ = ["MAX_BLOCKS", "Dim3", "Extent"]

#: The most blocks that a grid may have in x, on every vendor's driver.
MAX_BLOCKS = 2**31 - 1


class Dim3(NamedTuple):
    """A size in x, y and z; what is not given is 1."""

    x: int
    y: int = 1
    z: int = 1

    @property
    def product(self) -> int:
        return self.x * self.y * self.z

    @classmethod
    def of(cls, value: Extent, what: str) -> Dim3:
        """A size from an int or from a tuple of one to three ints, all at least 1.

        Args:
            what: the name of the argument, for the message.

        Raises:
            InvalidArgument: it is something else.
        """
        sizes = value if isinstance(value, tuple | list) else (value,)
        if not 1 <= len(sizes) <= 3:
            raise InvalidArgument(f"{what}: expected an int or one to three ints, got {len(sizes)}: {value!r}")
        try:
            made = cls(*(operator.index(size) for size in sizes))
        except TypeError:
            raise InvalidArgument(f"{what}: expected an int or a tuple of one to three ints, got {value!r}") from None
        if min(made) < 1:
            raise InvalidArgument(f"{what}: every size must be at least 1, got {tuple(made)}")
        return made

    @classmethod
    def linear(cls, count: int, block: int) -> Dim3:
        """The grid of one-dimensional blocks of `block` work-items that covers `count` elements.

        Raises:
            InvalidArgument: it would need more than 2^31 - 1 blocks, or `count` or `block` is below 1.
        """
        if count < 1 or block < 1:
            raise InvalidArgument(f"a grid needs at least one element and one work-item per block, got {count} elements, blocks of {block}")
        blocks = -(-count // block)
        if blocks > MAX_BLOCKS:
            raise InvalidArgument(
                f"{count} elements in blocks of {block} need {blocks} blocks; a grid has at most {MAX_BLOCKS} (2^31 - 1): "
                f"use larger blocks (block_size=1024), or launch on parts of the data"
            )
        return cls(blocks)


#: What a caller may write for a size.
Extent: TypeAlias = int | tuple[int, ...] | Dim3

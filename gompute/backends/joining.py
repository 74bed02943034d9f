"""From the pieces of a root to its blobs, as far as it takes no compiler: PTX is text, and who has the pieces puts them together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gompute.artifacts.entry import Resources
from gompute.backends import ptx
from gompute.backends.blob import Blob, Generated, Listing
from gompute.backends.work import Output, Whole
from gompute.errors import InternalError

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["generated", "is_text", "join_texts"]


def is_text(target: Target, emit: frozenset[str]) -> bool:
    """Whether all that is wanted of a root for a target is text."""
    return target.backend == "cuda" and "cubin" not in emit


def join_texts(whole: Whole) -> Output:
    """Put PTX texts one after the other under one header. Each was read back when it was generated.

    Raises:
        InternalError: they are not for one target and version.
    """
    version = whole.target.ptx_version
    assert version is not None
    try:
        text = ptx.join([piece.code for piece in whole.pieces])
    except ValueError as error:
        raise InternalError(f"{whole.name}: {error}") from error
    resources = {symbol: Resources(shared=size) for symbol, size in whole.shared.items()}
    return Output((Blob("ptx", text, f"{version[0]}.{version[1]}"),), resources)


def generated(whole: Whole, made: Output) -> Generated:
    """What a root gives in all, once it is joined."""
    listings: dict[Listing, str] = {}
    for kind in ("ir", "asm"):
        parts = [piece.listings[kind] for piece in whole.pieces if kind in piece.listings]
        if parts:
            listings[kind] = "\n".join(parts)
    toolchain = {name: version for piece in whole.pieces for name, version in piece.toolchain.items()}
    filled = tuple(replace(kernel, resources=made.resources[kernel.symbol]) for kernel in whole.kernels)
    return Generated(made.blobs, filled, listings, {**toolchain, **made.toolchain})

"""How the program was called."""

from __future__ import annotations

from typing import NamedTuple

from gompute.build.zygote import Zygote

__all__ = ["Invocation"]


class Invocation(NamedTuple):
    """The words after the program's name, and the compiler's process where one was started ahead."""

    arguments: tuple[str, ...]
    zygote: Zygote | None

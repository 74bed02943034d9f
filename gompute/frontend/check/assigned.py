"""The names that hold a value at a place in a function, on every path that leads there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

__all__ = ["Assigned"]


class Assigned:
    """A set of names. What only some paths assign is kept apart from the rest, which may be much more, until the paths meet."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._paths: list[set[str]] = []

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def add(self, name: str) -> None:
        if name not in self._names:
            self._names.add(name)
            if self._paths:
                self._paths[-1].add(name)

    def update(self, names: Iterable[str]) -> None:
        for name in names:
            self.add(name)

    def discard(self, name: str) -> None:
        """Take out a name that the current path has added."""
        self._names.discard(name)
        if self._paths:
            self._paths[-1].discard(name)

    @contextmanager
    def path(self) -> Iterator[set[str]]:
        """A path that not every run takes; gives the names that are added on it, which are taken out again at its end."""
        added: set[str] = set()
        self._paths.append(added)
        try:
            yield added
        finally:
            self._paths.pop()
            self._names -= added

    @property
    def depth(self) -> int:
        """How many paths have begun and not ended."""
        return len(self._paths)

    def since(self, depth: int) -> set[str]:
        """What was added since `depth` was that."""
        return set().union(*self._paths[depth:])

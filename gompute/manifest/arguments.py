"""The arguments of a call, evaluated."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from gompute.manifest.values import Scope, Value

__all__ = ["Arguments"]


@dataclass(slots=True)
class Arguments:
    """The arguments of one call, evaluated.

    Attributes:
        site: the call; of a decorator, what it decorates.
        scope: where the call stands.
        starred: the elements of ``*``.
        rest: the values of ``**``.
    """

    site: ast.AST
    scope: Scope
    positional: list[set[Value]] = field(default_factory=list)
    keywords: dict[str, set[Value]] = field(default_factory=dict)
    starred: set[Value] = field(default_factory=set)
    rest: set[Value] = field(default_factory=set)

    def everything(self) -> set[Value]:
        """All values that are passed."""
        return {value for group in (*self.positional, *self.keywords.values(), self.starred, self.rest) for value in group}

    def get(self, position: int, keyword: str) -> set[Value]:
        """The values of one parameter."""
        made = set(self.keywords.get(keyword, ())) | self.rest
        if position < len(self.positional):
            return made | self.positional[position]
        return made | self.starred

    def behind(self, bound: Value) -> Arguments:
        """The same with one more in front."""
        return Arguments(self.site, self.scope, [{bound}, *self.positional], self.keywords, self.starred, self.rest)

    def without_first(self) -> Arguments:
        """The same but for the one in front."""
        return Arguments(self.site, self.scope, self.positional[1:], self.keywords, self.starred, self.rest)

    def before(self, more: Arguments) -> Arguments:
        """These, and then those of a later call."""
        positional = [*self.positional, *more.positional]
        keywords = {**self.keywords, **more.keywords}
        return Arguments(more.site, more.scope, positional, keywords, self.starred | more.starred, self.rest | more.rest)

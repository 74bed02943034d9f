"""Lists, tuples, sets, dicts and iterators: what their methods do to what is in them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gompute.manifest.arguments import Arguments
from gompute.manifest.store import Store
from gompute.manifest.values import NOTHING, Container, Literal, Value

__all__ = ["members", "method", "rows"]


def members(store: Store, container: Container) -> set[Value]:
    """What a loop over a container gives one by one."""
    return store.keys(container) | store.get(container, "keys") if container.mapping else store.elements(container)


def rows(store: Store, columns: Sequence[set[Value]], site: ast.AST) -> Container:
    """What `zip` makes at a place of columns of values."""
    row, made = Container(site, "row"), Container(site, "rows")
    for number, column in enumerate(columns):
        store.put(row, Literal(number), column)
    store.put(made, None, {row})
    return made


def method(store: Store, container: Container, name: str, given: Arguments) -> set[Value]:
    """The values of a call of ``container.name``."""
    key, site = given.get(0, "key"), given.site
    match name:
        case "append" | "add" | "appendleft" | "insert" | "put" | "push":
            store.put(container, None, given.everything())
        case "extend" | "update" | "extendleft":
            for value in given.everything():
                if isinstance(value, Container):
                    store.put(container, None, store.elements(value))
                    store.add(container, "keys", store.get(value, "keys") | store.keys(value))
                    for pair in store.elements(value) if container.mapping and not value.mapping else ():
                        if isinstance(pair, Container):
                            store.add(container, "keys", store.item(pair, Literal(0)))
                            store.put(container, None, store.item(pair, Literal(1)))
            for keyword, values in given.keywords.items():
                store.put(container, Literal(keyword), values)
        case "get" | "pop" | "setdefault":
            other = given.get(1, "default")
            if name == "setdefault":
                for word in key:
                    store.put(container, word if isinstance(word, Literal) else None, other)
            words = [word if isinstance(word, Literal) else None for word in key] or [None]
            found = {value for word in words for value in store.item(container, word)}
            return found | other
        case "copy":
            return {container}
        case "values" | "__iter__" | "__reversed__":
            made = Container(site, "values")
            store.put(made, None, store.elements(container))
            return {made}
        case "keys":
            made = Container(site, "keys")
            store.put(made, None, members(store, container))
            return {made}
        case "items" | "popitem":
            pair = Container(site, "pair")
            store.put(pair, Literal(0), members(store, container))
            store.put(pair, Literal(1), store.elements(container))
            made = Container(site, "items")
            store.put(made, None, {pair})
            return {pair} if name == "popitem" else {made}
        case "popleft" | "__next__":
            return store.elements(container)
    return {NOTHING}

"""Which optimise mode a root is compiled in for a backend: what was asked for the root, the backend and the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gompute.errors import CompileError
from gompute.targets import KINDS, OPTIMIZE, Optimize

__all__ = ["Modes", "chosen", "read_modes", "read_word"]

_BACKENDS = tuple(sorted(KINDS))


@dataclass(frozen=True, slots=True)
class Modes:
    """What one place asks for.

    Attributes:
        every: for all backends that `by_backend` does not name; None where the place does not say.
        by_backend: for `cpu`, `cuda` or `hip`.
    """

    every: Optimize | None = None
    by_backend: Mapping[str, Optimize] = field(default_factory=dict)

    def over(self, other: Modes) -> Modes:
        """This, with `other` for what it does not say."""
        return Modes(self.every or other.every, {**other.by_backend, **self.by_backend})


def chosen(backend: str, root: Modes, project: Modes) -> Optimize:
    """The mode of a root for a backend: the root's own, else that of the project for the backend, else that of the project.

    A `debug` for all of a project is for what runs in a debugger: code for a GPU stays `fast` unless its backend or its root says
    otherwise.
    """
    own = root.by_backend.get(backend) or root.every or project.by_backend.get(backend)
    if own is not None:
        return own
    if project.every is None or (project.every == "debug" and backend != "cpu"):
        return "fast"
    return project.every


def read_modes(declared: object, where: str) -> Modes:
    """What a declaration asks for: a mode, or a table of modes by backend.

    Args:
        where: the key, for messages.

    Raises:
        CompileError: it is neither.
    """
    if isinstance(declared, str):
        return Modes(_mode(declared, where))
    if not isinstance(declared, dict):
        raise CompileError(
            f'{where}: a mode or a table of modes by backend is wanted, got {declared!r}.\n  Write: optimize = "safe", or '
            'optimize = { cpu = "debug", cuda = "safe" }'
        )
    made: dict[str, Optimize] = {}
    for backend, mode in declared.items():
        _check_backend(backend, where)
        if not isinstance(mode, str):
            raise CompileError(f"{where}.{backend}: a mode is wanted, one of {', '.join(OPTIMIZE)}, got {mode!r}.")
        made[backend] = _mode(mode, f"{where}.{backend}")
    return Modes(by_backend=made)


def read_word(word: str) -> Modes:
    """What a word of a command line asks for: ``MODE`` or ``BACKEND=MODE``.

    Raises:
        CompileError: there is no such mode or backend.
    """
    before, equals, after = word.partition("=")
    if not equals:
        return Modes(_mode(before, f"{word!r}"))
    _check_backend(before, f"{word!r}")
    return Modes(by_backend={before: _mode(after, f"{word!r}")})


def _mode(word: str, where: str) -> Optimize:
    for mode in OPTIMIZE:
        if word == mode:
            return mode
    raise CompileError(f"{where}: there is no mode {word!r}{_near(word, OPTIMIZE)}; the modes are {', '.join(OPTIMIZE)}.")


def _check_backend(word: str, where: str) -> None:
    if word not in _BACKENDS:
        raise CompileError(f"{where}: there is no backend {word!r}{_near(word, _BACKENDS)}; the backends are {', '.join(_BACKENDS)}.")


def _near(word: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches  # here, since most builds make no mistake

    near = get_close_matches(word, known, 1)
    return f" (did you mean {near[0]!r}?)" if near else ""

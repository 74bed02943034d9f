"""Which optimise mode a root is compiled in."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest

from gompute.build.modes import Modes, chosen, read_modes, read_word
from gompute.errors import CompileError
from gompute.targets import FAST, OPTIMIZE, Mode, Optimize


def _all(root: Modes, project: Modes) -> list[Optimize]:
    return [chosen(backend, root, project) for backend in ("cuda", "hip", "cpu")]


@pytest.mark.parametrize(
    ("root", "project", "wanted"),
    [
        (Modes(), Modes(), ["fast", "fast", "fast"]),
        (Modes(), Modes("safe"), ["safe", "safe", "safe"]),
        (Modes(), Modes("debug"), ["fast", "fast", "debug"]),
        (Modes(), Modes("debug", {"cuda": "debug", "cpu": "fast"}), ["debug", "fast", "fast"]),
        (Modes("debug"), Modes(), ["debug", "debug", "debug"]),
        (Modes("fast"), Modes("safe", {"hip": "debug"}), ["fast", "fast", "fast"]),
        (Modes("safe", {"cpu": "debug"}), Modes("fast"), ["safe", "safe", "debug"]),
        (Modes(by_backend={"hip": "safe"}), Modes("debug", {"hip": "fast"}), ["fast", "safe", "debug"]),
    ],
)
def test_the_root_goes_before_the_backend_and_the_backend_before_the_project(root: Modes, project: Modes, wanted: list[str]) -> None:
    assert _all(root, project) == wanted


def test_words_add_up_and_the_last_wins() -> None:
    modes = Modes()
    for word in ("debug", "cuda=fast", "safe", "cuda=debug"):
        modes = read_word(word).over(modes)
    assert modes == Modes("safe", {"cuda": "debug"})
    assert modes.over(Modes("fast", {"cuda": "fast", "hip": "safe"})) == Modes("safe", {"cuda": "debug", "hip": "safe"})


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ("slow", "X: there is no mode 'slow'; the modes are fast, safe, debug."),
        ("sfae", "X: there is no mode 'sfae' (did you mean 'safe'?); the modes are fast, safe, debug."),
        ({"metal": "safe"}, "X: there is no backend 'metal'; the backends are cpu, cuda, hip."),
        ({"cuad": "safe"}, "X: there is no backend 'cuad' (did you mean 'cuda'?); the backends are cpu, cuda, hip."),
        ({"hip": "Safe"}, "X.hip: there is no mode 'Safe' (did you mean 'safe'?); the modes are fast, safe, debug."),
        ({"hip": 3}, "X.hip: a mode is wanted, one of fast, safe, debug, got 3."),
        (
            True,
            (
                'X: a mode or a table of modes by backend is wanted, got True.\n  Write: optimize = "safe", or optimize = { cpu = "debug", '
                'cuda = "safe" }'
            ),
        ),
    ],
)
def test_what_is_no_mode_is_refused(declared: object, says: str) -> None:
    with pytest.raises(CompileError) as caught:
        read_modes(declared, "X")
    assert str(caught.value) == says


@pytest.mark.parametrize("word", ["", "=", "safe=", "=safe", "cuda=", "gpu=fast", "cuda=cpu=fast", "SAFE"])
def test_what_is_no_word_is_refused(word: str) -> None:
    with pytest.raises(CompileError, match=f"'{word}': there is no "):
        read_word(word)


def test_every_mode_has_a_text_of_its_own_but_for_the_lines_that_debug_has_anyway() -> None:
    assert set(get_args(Optimize)) == set(OPTIMIZE)
    texts = {str(Mode(optimize, lines)) for optimize, lines in itertools.product(OPTIMIZE, (False, True))}
    assert texts == {"fast", "safe", "debug", "fast with line tables", "safe with line tables"}
    assert (FAST.checks, FAST.lines, Mode("safe").checks, Mode("debug").lines) == (False, False, True, True)

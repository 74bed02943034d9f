"""Every kind of mistake that the compiler tells of has a test of its whole text: what is wrong, and what to write."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

import gompute
from tests.frontend.fault_texts import Text, expected, texts

ROOT = Path(gompute.__file__).parent
TESTS = Path(__file__).parents[1]
#: Of syntax that Python 3.11 does not have; what it has is listed by name.
UNREACHED = {
    ("'.+?'\\ is\\ not\\ supported\\ in\\ a\\ kernel", "write\\ it\\ with\\ numbers\\ and\\ calls"),
    ("'.+?'\\ is\\ not\\ supported\\ in\\ a\\ kernel", "write\\ it\\ with\\ assignments\\ and\\ loops"),
}


def _told() -> Iterator[Text]:
    for file in sorted(chain((ROOT / "frontend").rglob("*.py"), (ROOT / "lang").glob("*.py"))):
        yield from texts(file, ROOT)


@pytest.fixture(scope="module")
def groups() -> list[tuple[str, ...]]:
    """The texts of the tests, each with those that stand beside it."""
    files = sorted(chain((TESTS / "frontend").glob("test_*.py"), (TESTS / "lang").glob("test_*.py")))
    modules = [importlib.import_module(f"tests.{file.parent.name}.{file.stem}") for file in files]
    return sorted({group for module in modules for group in expected(module) if group})


def _is_held(text: Text, groups: list[tuple[str, ...]]) -> bool:
    # Before a message may stand its place, the field or the argument that it is about.
    what, fix = re.compile(rf"(?:\S.*: )?{text.what}", re.DOTALL), re.compile(text.fix, re.DOTALL)
    whole = re.compile(rf"(?:\S.*: )?{text.what}; {text.fix}", re.DOTALL)
    words = re.sub(r"\\(.)", r"\1", max(text.what.split(".+?"), key=len))
    near = [group for group in groups if any(words in text for text in group)]
    return any((any(map(what.fullmatch, group)) and any(map(fix.fullmatch, group))) or any(map(whole.fullmatch, group)) for group in near)


def test_every_fault_has_a_test_of_its_whole_text(groups: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    told = [text for text in dict.fromkeys(_told()) if (text.what, text.fix) not in UNREACHED]
    missing = [f"{text.place}: {text.what} / {text.fix}" for text in told if not _is_held(text, groups)]
    assert not missing
    with capsys.disabled():
        print(f" {len(told)} texts of faults")
    assert len(told) > 200


def test_a_text_that_no_test_expects_is_seen(groups: list[tuple[str, ...]], tmp_path: Path) -> None:
    file = tmp_path / "made.py"
    file.write_text(
        "def f(node, name):\n"
        "    what = f\"'{name}' is too green for a kernel\"\n"
        "    raise KernelFault(node, what, 'paint it')\n"
        "def h(node):\n"
        "    raise KernelFault(node, \"'print' is not supported in a kernel\", 'paint it')\n"
        "def i(node):\n"
        "    raise KernelFault(node, \"'print' is not supported in a kernel\", 'write values to an array and print them on the host')\n"
    )
    found = list(texts(file, tmp_path))
    assert [text.place for text in found] == ["made.py:3", "made.py:5", "made.py:7"]
    assert [_is_held(text, groups) for text in found] == [False, False, True]

"""An edit of one kernel is no reason to check others, an edit of anything else is; lowered alone, a kernel is what it is with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gompute.frontend import Lowering, lower_root
from gompute.targets import FAST, Mode, parse_target

SOURCE = """\
import gompute as g
from gompute import f32

from shared import shift

SCALE = 1.5

@g.params
class Params:
    bias: f32

def helper(x: f32) -> f32:
    return x + 0.5

def other_helper(x: f32) -> f32:
    return x - 0.25

def made(factor):
    def scaled(x: f32) -> f32:
        return x * factor
    return scaled

DOUBLED = made(2.0)

@g.map
def first(x: f32) -> f32:
    return other_helper(helper(x)) * SCALE

@g.map(block_size=128)
def second(x: f32, p: Params) -> f32:
    y = helper(other_helper(x))
    # a word
    return DOUBLED(y) + p.bias

@g.map
def third(x: f32) -> f32:
    return shift(x)
"""
SHARED = "from gompute import f32\n\ndef shift(x: f32) -> f32:\n    return x + 1.5\n"
ALL = {"first", "second", "third"}
SM_89 = parse_target("sm_89")


def lowered(folder: Path, known: dict[str, str] | None = None, mode: Mode = FAST) -> Lowering:
    return lower_root(folder / "root.py", name="root", imports=None, target=SM_89, known=known or {}, mode=mode)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root.py").write_text(SOURCE)
    (tmp_path / "shared.py").write_text(SHARED)
    return tmp_path


def edit(root: Path, old: str, new: str, name: str = "root.py") -> None:
    text = (root / name).read_text()
    assert text.count(old) == 1
    (root / name).write_text(text.replace(old, new))


def checked_again(root: Path, old: str, new: str, name: str = "root.py", mode: Mode = FAST) -> set[str]:
    """The kernels that are lowered again after an edit; of each the IR is that of a lowering of all."""
    before = dict(lowered(root, mode=mode).digests)
    edit(root, old, new, name)
    again = lowered(root, before, mode)
    alone = {unit.kernels[0].name: unit for unit in again.units}
    whole = {unit.kernels[0].name: unit for unit in lowered(root, mode=mode).units}
    assert alone == {kernel: whole[kernel] for kernel in alone}
    assert {*again.kept, *alone} == whole.keys()
    return set(alone)


@pytest.mark.parametrize(
    ("old", "new", "kernels"),
    [
        ("* SCALE", "* SCALE * 2.0", {"first"}),
        ("    y = helper", "    y = 0.25 + helper", {"second"}),
        ("    return shift(x)", "    y = shift(x)\n\n    return y", {"third"}),
        ("# a word", "# another word", set()),
        ("    # a word\n", "", set()),
        ("\n\ndef helper", "\n\n\n# a helper\ndef helper", set()),
        ("SCALE = 1.5", "SCALE = 1.5  # a comment", set()),
    ],
)
def test_the_body_of_a_kernel_is_its_own(root: Path, old: str, new: str, kernels: set[str]) -> None:
    assert checked_again(root, old, new) == kernels


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("x + 0.5", "x + 0.75", "root.py"),  # a helper
        ("SCALE = 1.5", "SCALE = 2.5", "root.py"),  # a constant
        ("made(2.0)", "made(3.0)", "root.py"),  # the value of a closure
        ("block_size=128", "block_size=64", "root.py"),  # an argument of a decorator
        ("@g.map\ndef first", "@g.map(block_size=64)\ndef first", "root.py"),
        ("bias: f32", "bias: f32\n    more: f32", "root.py"),  # a class
        ("def second(x: f32, p: Params)", 'def second(x: f32, p: "Params")', "root.py"),  # a signature
        ("x + 1.5", "x + 2.5", "shared.py"),  # an import
        ("from shared import shift", "from shared import shift\nprint()", "root.py"),  # code at the top level
        ("SCALE = 1.5", 'SCALE = 1.5\nTEXT = """\n\n# no comment\n"""', "root.py"),
    ],
)
def test_whatever_else_is_edited_is_a_reason_to_check_all(root: Path, old: str, new: str, name: str) -> None:
    assert checked_again(root, old, new, name) == ALL


@pytest.mark.parametrize(
    "more",
    [
        "VALUE = first(2.0)\n",  # a host call, which runs the body
        "ALIAS = first\n",
        "both = g.fused('both', first, first)\n",
        "SEEN = globals()\n",
        "SEEN = vars()\n",
        "import inspect\n",
        "NAMES = ['first']\n",
        "ALIAS = \N{MATHEMATICAL BOLD SMALL F}irst\n",
    ],
)
def test_a_body_that_something_else_may_have_reached_is_a_part_of_all(root: Path, more: str) -> None:
    (root / "root.py").write_text(SOURCE + more)
    assert checked_again(root, "* SCALE", "* SCALE * 2.0") >= ALL


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@g.map\ndef first", "def seen(f):\n    f(1.0)\n    return g.map(f)\n\n@seen\ndef first"),
        ("@g.map\ndef first", "@g.map\n@(lambda f: f)\ndef first"),
        ("@g.map\ndef first", "class h:\n    map = staticmethod(lambda f: g.map(f))\n\n@h.map\ndef first"),
        ("@g.map\ndef first(x: f32) -> f32:\n    return other", "@g.map\ndef first(x: f32) -> f32: return other"),
    ],
)
def test_a_body_under_another_decorator_is_a_part_of_all(root: Path, old: str, new: str) -> None:
    edit(root, old, new)
    assert checked_again(root, "* SCALE", "* SCALE * 2.0") == ALL


def test_a_body_in_an_imported_text_that_reads_the_root_is_a_part_of_all(root: Path) -> None:
    (root / "shared.py").write_text("import sys\n" + SHARED)
    assert checked_again(root, "* SCALE", "* SCALE * 2.0") == ALL


def test_where_the_ir_names_lines_a_kernel_that_moves_is_lowered_again(root: Path) -> None:
    mode = Mode("safe", False)
    assert checked_again(root, "* SCALE", "* SCALE * 2.0", mode=mode) == {"first"}
    assert checked_again(root, "# a word", "# a word\n", mode=mode) == ALL


def test_neither_order_nor_symbols_of_what_kernels_share_depend_on_other_kernels(root: Path) -> None:
    """`first` and `second` call the same helpers in another order, and two lambdas of one line have one name."""
    (root / "root.py").write_text(
        SOURCE
        + "def pair():\n    def f(x: f32) -> f32:\n        return x * 3.0\n    a = f\n    def f(x: f32) -> f32:\n        return x * 5.0\n"
        "    return a, f\n\nTHREE, FIVE = pair()\n\n@g.map\ndef fourth(x: f32) -> f32:\n    return THREE(x)\n\n"
        "@g.map\ndef fifth(x: f32) -> f32:\n    return FIVE(x) + THREE(x)\n\n@g.map\ndef sixth(x: f32) -> f32:\n    return FIVE(x)\n"
    )
    whole = {unit.kernels[0].name: unit.ir for unit in lowered(root).units}
    for name, ir in whole.items():
        alone = lower_root(root / "root.py", name="root", imports=None, target=SM_89, kernels=[name])
        assert [unit.ir for unit in alone.units] == [ir]

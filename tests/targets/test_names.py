"""Names to targets, and what is said of a name that is none."""

from __future__ import annotations

import pytest

from gompute.errors import UnknownTarget
from gompute.targets import all_targets, find_target, parse_target


def test_every_name_parses_to_its_row() -> None:
    assert all(parse_target(target.name) is target for target in all_targets())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("auto", "always pinned"),
        ("native", "--target sm_89"),
        ("host", "always pinned"),
        ("Detect", "always pinned"),
        ("sm_999", "sm_90"),
        ("SM_89", "did you mean sm_89?"),
        ("sm89", "did you mean sm_89?"),
        ("8.9", "did you mean sm_89?"),
        ("compute_90a", "did you mean sm_90a?"),
        ("12.0f", "did you mean sm_120f?"),
        ("sm_101", "write sm_110"),
        ("sm_107f", "sm_100f runs there"),
        ("gfx900", "gfx9-generic runs there"),
        ("gfx940", "write gfx942"),
        ("gfx11", "did you mean gfx11-generic?"),
        ("gfx9", "did you mean gfx9-generic or gfx9-4-generic?"),
        ("gfx90b", "gfx90a"),
        ("gfx90a:xnack-:sramecc+", "write gfx90a:sramecc+:xnack-"),
        ("gfx90a:xnack+:xnack+", "write gfx90a:xnack+"),
        ("gfx90a:xnack+:xnack-", "each of sramecc and xnack once"),
        ("gfx90a:xnack", "must end in + (on) or - (off)"),
        ("gfx90a:", "must end in + (on) or - (off)"),
        ("gfx90a:tgsplit+", "it has sramecc and xnack"),
        ("gfx9-generic:sramecc+", "it has xnack"),
        ("gfx1100:xnack+", "write gfx1100"),
        ("x86_64_v3", "did you mean x86-64-v3?"),
        ("x86-64-v2", "write x86-64-v3"),
        ("x86-64", "write x86-64-v3"),
        ("arm64", "did you mean aarch64?"),
        ("", "`gompute targets` lists"),
        ("sm_89\n", "did you mean sm_89?"),
        ("sm_\u0668\u0669", "did you mean"),
    ],
)
def test_a_wrong_name_is_refused_with_the_fix(text: str, says: str) -> None:
    with pytest.raises(UnknownTarget) as caught:
        parse_target(text)
    assert repr(text) in str(caught.value)
    assert says in str(caught.value)
    assert find_target(text) is None


def test_the_refusal_is_a_value_error_too() -> None:
    with pytest.raises(ValueError, match="sm_999"):
        parse_target("sm_999")

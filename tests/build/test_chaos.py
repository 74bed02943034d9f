"""A few rounds of checks/chaos.py: every kind of disaster at least once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "checks"))
from chaos import Chaos

ROUNDS = 20


def test_whatever_happens_to_a_build_the_next_one_makes_the_bytes_of_a_clean_one(tmp_path: Path) -> None:
    chaos = Chaos(tmp_path, seed=8)
    seen = {chaos.round().partition(" ")[0] for _ in range(ROUNDS)}
    assert seen == {disaster.__name__ for disaster in chaos.disasters}


def test_bytes_that_differ_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chaos = Chaos(tmp_path, seed=8)
    chaos.disasters = (chaos.damage,)
    monkeypatch.setattr(chaos, "_reference", lambda: {"index.json": b"other"})
    with pytest.raises(AssertionError, match="other bytes than those of a clean build"):
        chaos.round()

"""The table as a whole, and its JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from gompute.targets import KINDS, all_targets, find_target
from gompute.targets.dump import targets_json

NAMES = [target.name for target in all_targets()]


def test_it_holds_what_is_promised() -> None:
    promised = """
        sm_50 sm_52 sm_53 sm_60 sm_61 sm_62 sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_103
        sm_103a sm_103f sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f
        gfx906 gfx908 gfx90a gfx942 gfx950 gfx1010 gfx1030 gfx1100 gfx1151 gfx1200 gfx1201 gfx90a:xnack+ gfx90a:sramecc+:xnack-
        gfx9-generic gfx9-4-generic gfx10-1-generic gfx10-3-generic gfx11-generic gfx12-generic x86-64-v3 x86-64-v4 aarch64
    """.split()
    assert set(promised) <= set(NAMES)
    assert not {"sm_101", "sm_107", "gfx900", "x86-64"} & set(NAMES)


def test_names_are_unique_also_where_they_are_made_safe() -> None:
    assert len(set(NAMES)) == len(NAMES)
    safe = [target.safe_name for target in all_targets()]
    assert len(set(safe)) == len(safe)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", name) for name in safe)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("sm_90a", "sm_90a"),
        ("gfx90a:xnack+", "gfx90a-xnack-on"),
        ("gfx90a:sramecc+:xnack-", "gfx90a-sramecc-on-xnack-off"),
        ("gfx9-4-generic:sramecc-", "gfx9-4-generic-sramecc-off"),
    ],
)
def test_safe_name(name: str, safe: str) -> None:
    target = find_target(name)
    assert target is not None
    assert target.safe_name == safe


def test_order_is_by_number() -> None:
    places = [
        NAMES.index(name) for name in ("sm_89", "sm_100", "gfx90a", "gfx942", "gfx9-generic", "gfx1010", "gfx1100", "aarch64", "x86-64-v4")
    ]
    assert places == sorted(places)
    assert list(all_targets()) == sorted(all_targets(), key=lambda target: target.sort_key)


def test_rows_agree_with_themselves() -> None:
    for target in all_targets():
        assert (target.backend, target.vendor) in {("cuda", "nvidia"), ("hip", "amd"), ("cpu", "cpu")}
        assert set(target.kinds) <= set(KINDS[target.backend])
        assert target.name.split(":")[0] == target.arch
        assert (target.ptx_version is not None) == (target.backend == "cuda"), target
        assert target.generic == bool(target.members), target
        assert target.code_object_version == (6 if target.generic else 5 if target.backend == "hip" else None), target
        assert target.warp_size == {"cuda": 32, "hip": 64 if target.number[0] == 9 else 32, "cpu": 1}[target.backend], target
        assert target.max_block == 1024
        assert (target.max_params is None) == (target.backend == "cpu"), target
        assert target.backend != "cpu" or target.max_static_shared == max(other.max_static_shared for other in all_targets()), target
        assert ("cubin" in target.kinds) == (target.backend == "cuda" and target.number >= (7, 5)), target


def test_members_of_generics_are_of_one_generic_each() -> None:
    members = [member for target in all_targets() if target.generic and target.name == target.arch for member in target.members]
    assert len(set(members)) == len(members)
    rows = {target.arch for target in all_targets() if target.backend == "hip" and not target.generic}
    # Those of no generic: LLVM 22 has none for them.
    assert rows - set(members) == {"gfx908", "gfx90a", "gfx1250", "gfx1251"}


def test_json_is_complete_and_in_order() -> None:
    table = json.loads(targets_json())
    assert list(table) == NAMES
    assert table["sm_89"]["ptx_version"] == "7.8"
    assert table["gfx90a:xnack-"]["xnack"] is False
    assert "xnack" not in table["gfx90a"]
    assert table["gfx11-generic"]["members"] == "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153".split()
    assert "generic" not in table["gfx1100"]


def test_json_is_what_the_module_prints() -> None:
    done = subprocess.run([sys.executable, "-m", "gompute.targets"], capture_output=True, text=True, check=True)
    assert done.stdout == targets_json()

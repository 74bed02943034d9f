"""Uniting sets."""

from __future__ import annotations

import dataclasses
from itertools import permutations
from pathlib import Path

import pytest

from gompute.artifacts.destination import SetFolder
from gompute.artifacts.entry import Resources
from gompute.artifacts.kernel_set import KernelSet
from gompute.artifacts.merge import merge_sets
from gompute.artifacts.write import NewBlob, NewUnit
from gompute.errors import ArtifactError
from gompute.targets import parse_target
from tests.artifacts.samples import GENERATOR, contents, kernel, left_out_set, raw_kernel, sample_units, unit, write_sample


def merge(tmp_path: Path, *parts: list[NewUnit]) -> Path:
    sources = [write_sample(tmp_path / f"part{number}", part) for number, part in enumerate(parts)]
    merge_sets(sources, SetFolder(tmp_path / "merged"), generator=GENERATOR)
    return tmp_path / "merged"


def test_parts_make_the_whole_in_any_order(tmp_path: Path) -> None:
    whole = contents(write_sample(tmp_path / "whole"))
    units = sample_units()
    parts = [write_sample(tmp_path / f"part{number}", units[number : number + 2]) for number in (0, 2, 4)]
    for order in permutations(parts):
        merge_sets(order, SetFolder(tmp_path / "merged"), generator=GENERATOR)
        assert contents(tmp_path / "merged") == whole


def test_what_two_sets_share_is_there_once(tmp_path: Path) -> None:
    merged = merge(tmp_path, sample_units(), sample_units()[:3])
    assert contents(merged) == contents(write_sample(tmp_path / "whole"))


def test_a_set_may_be_merged_into_itself(tmp_path: Path) -> None:
    place = write_sample(tmp_path / "set", [unit("a", "sm_80")])
    merge_sets([place, write_sample(tmp_path / "more", [unit("b", "sm_80")])], SetFolder(place), generator=GENERATOR)
    assert KernelSet.open(place).roots == ("a", "b")


def test_a_cubin_joins_its_ptx(tmp_path: Path) -> None:
    known = kernel("k", resources=Resources(registers=20, spills=0))
    plain, compiled = unit("a", "sm_80", kernel("k")), unit("a", "sm_80", known, cubin=True)
    lone = dataclasses.replace(compiled, blobs=compiled.blobs[1:])
    for second in (compiled, lone):
        kernels = KernelSet.open(merge(tmp_path, [plain], [second]))
        assert [blob.kind for blob in kernels.index.units[0].blobs] == ["ptx", "cubin"]
        assert kernels.entry("k") == known
        assert kernels.index.units[0].toolchain["ptxas"] == "13.5.37"


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        (unit("a", "sm_80", kernel("k")), unit("b", "sm_89", kernel("k")), "kernel 'k' is in root 'a' of {0} and in root 'b' of {1}"),
        (
            unit("a", "sm_80", kernel("k")),
            dataclasses.replace(unit("a", "sm_80", kernel("k")), blobs=(NewBlob("ptx", b"another", "7.0"),)),
            "root 'a' for sm_80 of {0} and of {1} differ: the ptx is not the same",
        ),
        (unit("a", "sm_80", kernel("k")), unit("a", "sm_80", kernel("k"), kernel("l")), "differ: only one has the kernel 'l'"),
        (unit("a", "sm_80", kernel("k")), unit("a", "sm_80", raw_kernel("k")), "differ: kernel 'k' is not the same"),
        (
            unit("a", "sm_80", kernel("k", resources=Resources(registers=1))),
            unit("a", "sm_80", kernel("k", resources=Resources(registers=2))),
            "differ: kernel 'k' takes 1 registers in one and 2 in the other",
        ),
        (
            unit("a", "sm_80"),
            dataclasses.replace(unit("a", "sm_80"), toolchain={"llvm": "23.0.0"}),
            "differ: one was made by llvm 22.1.0, the other by 23.0.0",
        ),
    ],
)
def test_a_clash_names_both(tmp_path: Path, first: NewUnit, second: NewUnit, says: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        merge(tmp_path, [first], [second])
    assert says.format(tmp_path / "part0", tmp_path / "part1") in str(caught.value)
    assert not (tmp_path / "merged").exists()


def test_a_damaged_part_stops_the_merge(tmp_path: Path) -> None:
    part = write_sample(tmp_path / "part")
    (part / "image.sm_80.ptx").write_bytes(b"x" * 48)
    with pytest.raises(ArtifactError, match="sha256"):
        merge_sets([part], SetFolder(tmp_path / "merged"), generator=GENERATOR)
    assert not (tmp_path / "merged").exists()


def test_different_toolchains_of_different_units_are_kept_apart(tmp_path: Path) -> None:
    newer = dataclasses.replace(unit("b", "sm_80"), toolchain={"llvm": "23.0.0"})
    kernels = KernelSet.open(merge(tmp_path, [unit("a", "sm_80")], [newer]))
    assert [kernels.unit(root, parse_target("sm_80")).toolchain["llvm"] for root in ("a", "b")] == ["22.1.0", "23.0.0"]


def test_the_destination_is_asked_first(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("")
    with pytest.raises(ArtifactError, match=r"notes\.txt"):
        merge_sets([tmp_path / "no such set"], SetFolder(tmp_path / "mine"), generator=GENERATOR)


def test_what_a_manifest_left_out_of_one_set_and_another_has_is_no_longer_left_out(tmp_path: Path) -> None:
    one = left_out_set(tmp_path / "one", [unit("a", "sm_80", kernel("k"))], {"a": ("l", "m"), "b": (), "c": ()})
    two = left_out_set(tmp_path / "two", [unit("a", "sm_89", kernel("l")), unit("b", "sm_80")], {"a": ("k", "m")})
    for order in permutations([one, two]):
        merge_sets(order, SetFolder(tmp_path / "merged"), generator=GENERATOR)
        assert KernelSet.open(tmp_path / "merged").index.left_out == {"a": ("m",), "c": ()}

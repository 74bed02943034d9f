"""Writing a set: whole or not at all, and never over what is no set."""

from __future__ import annotations

import dataclasses
import errno
import os
from pathlib import Path

import pytest

from gompute.artifacts import staging, write
from gompute.artifacts.kernel_set import KernelSet
from gompute.artifacts.merge import read_units
from gompute.artifacts.write import NewBlob, check_destination, write_set
from gompute.errors import ArtifactError, InternalError
from tests.artifacts.samples import GENERATOR, contents, kernel, raw_kernel, sample_units, unit, write_sample


def test_files_of_a_set(tmp_path: Path) -> None:
    written = write_set(tmp_path / "set", sample_units(), generator=GENERATOR)
    assert [blob.file for blob in written] == [
        "image.sm_80.ptx",
        "image.sm_89.ptx",
        "image.sm_89.cubin",
        "image.gfx90a-xnack-on.hsaco",
        "image.gfx11-generic.hsaco",
        "image.x86-64-v3.so",
        "sort.sm_80.ptx",
    ]
    assert {path.name for path in (tmp_path / "set").iterdir()} == {"index.json", *(blob.file for blob in written)}
    assert all(len((tmp_path / "set" / blob.file).read_bytes()) == blob.length for blob in written)
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_write_read_write_gives_the_same_bytes(tmp_path: Path) -> None:
    first = write_sample(tmp_path / "a")
    read = KernelSet.open(first)
    write_set(tmp_path / "b", read_units(read), generator=read.index.generator)
    assert contents(first) == contents(tmp_path / "b")


def test_a_set_is_replaced_as_a_whole(tmp_path: Path) -> None:
    write_sample(tmp_path / "set")
    write_sample(tmp_path / "set", [unit("only", "sm_75")])
    assert sorted(contents(tmp_path / "set")) == ["index.json", "only.sm_75.ptx"]
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_listings_lie_beside_the_blobs_and_not_in_the_index(tmp_path: Path) -> None:
    listed = dataclasses.replace(unit("image", "sm_80"), listings={"ir": "; IR\n", "asm": "// assembly\n"})
    write_set(tmp_path / "set", [listed], generator=GENERATOR)
    assert (tmp_path / "set" / "image.sm_80.ll").read_text() == "; IR\n"
    assert (tmp_path / "set" / "image.sm_80.s").read_text() == "// assembly\n"
    assert b".ll" not in (tmp_path / "set" / "index.json").read_bytes()
    write_sample(tmp_path / "set")
    assert "image.sm_80.ll" not in contents(tmp_path / "set")


def test_missing_parents_are_made_and_a_link_stays_a_link(tmp_path: Path) -> None:
    write_sample(tmp_path / "a" / "b" / "set")
    (tmp_path / "link").symlink_to(tmp_path / "a" / "b" / "set")
    write_sample(tmp_path / "link", [unit("only", "sm_75")])
    assert (tmp_path / "link").is_symlink()
    assert KernelSet.open(tmp_path / "a" / "b" / "set").roots == ("only",)


def test_an_empty_folder_becomes_the_set(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    check_destination(tmp_path / "set")
    assert KernelSet.open(write_sample(tmp_path / "set")).roots == ("image", "sort")


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"notes.txt": "mine"}, "'notes.txt', which is no part of a kernel set"),
        ({"index.json": "{}"}, "its index.json is not that of a kernel set"),
        ({"index.json": "{"}, "its index.json is not that of a kernel set"),
        ({"index.json": '{"format": 1, "roots": {}}', "libmine.so": ""}, "'libmine.so'"),
        ({"index.json": '{"format": 1, "roots": {}}', ".git": None}, "'.git'"),
        ({"index.json": '{"format": 1, "roots": {}}', "image.sm_80.ptx": None}, "'image.sm_80.ptx'"),
        ({"image.sm_80.ptx": ""}, "no index.json in it"),
    ],
)
def test_what_is_no_set_is_not_replaced(tmp_path: Path, files: dict[str, str | None], says: str) -> None:
    place = tmp_path / "set"
    place.mkdir()
    for name, text in files.items():
        if text is None:
            (place / name).mkdir()
        else:
            (place / name).write_text(text)
    for attempt in (lambda: check_destination(place), lambda: write_sample(place)):
        with pytest.raises(ArtifactError) as caught:
            attempt()
        assert says in str(caught.value)
    assert sorted(path.name for path in place.iterdir()) == sorted(files)
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_a_set_of_another_version_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "index.json").write_text('{"format": 99, "roots": {"r": {}}, "more": 1}')
    assert KernelSet.open(write_sample(tmp_path / "set")).roots == ("image", "sort")


def test_a_file_in_the_place(tmp_path: Path) -> None:
    (tmp_path / "set").write_text("mine")
    with pytest.raises(ArtifactError, match="is a file; a kernel set is a folder"):
        write_sample(tmp_path / "set")
    with pytest.raises(ArtifactError, match="set/below: is below a file"):
        write_sample(tmp_path / "set" / "below")
    assert (tmp_path / "set").read_text() == "mine"


def test_units_that_clash(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="root 'a' for sm_80 is given twice"):
        write_sample(tmp_path / "set", [unit("a", "sm_80"), unit("a", "sm_80")])
    with pytest.raises(ArtifactError, match="kernel 'k' is in root 'a' and in root 'b'"):
        write_sample(tmp_path / "set", [unit("a", "sm_80", kernel("k")), unit("b", "sm_89", raw_kernel("k"))])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "bad",
    [
        unit("../up", "sm_80"),
        dataclasses.replace(unit("a", "sm_80"), blobs=()),
        dataclasses.replace(unit("a", "sm_80"), blobs=(NewBlob("ptx", b""),)),
        dataclasses.replace(unit("a", "sm_80"), blobs=(NewBlob("ptx", b"x", "ISA 7.8"),)),
        dataclasses.replace(unit("a", "sm_80"), kernels=(dataclasses.replace(kernel("k"), symbol="a.b"),)),
        dataclasses.replace(unit("a", "sm_80"), toolchain={"llvm": "/nix/store"}),
    ],
    ids=["root", "no blob", "empty blob", "version", "symbol", "toolchain"],
)
def test_what_no_reader_would_take_is_our_mistake(tmp_path: Path, bad: write.NewUnit) -> None:
    with pytest.raises(InternalError, match="can't be read back"):
        write_sample(tmp_path / "set", [bad])
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_old_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = write_sample(tmp_path / "set")
    before = contents(place)
    count = 0

    def failing(staged: Path, files: dict[str, bytes]) -> None:
        nonlocal count
        count += 1
        (staged / "half").write_bytes(b"x")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(staging, "_fill", failing)
    with pytest.raises(ArtifactError, match="could not write the kernel set: No space left on device"):
        write_sample(place, [unit("only", "sm_75")])
    assert count == 1
    assert contents(place) == before
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_a_mount_point_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(staged: Path, place: Path) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(staging, "_exchange", busy)
    with pytest.raises(ArtifactError, match="a mount point can't be replaced"):
        write_sample(tmp_path / "set")

"""Opening a set, finding kernels, and reading blobs that are not what they should be."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from gompute.artifacts.kernel_set import KernelSet
from gompute.errors import ArtifactError, KernelNotFound, ModuleLoadFailed
from gompute.targets import parse_target
from gompute.targets.device import Device
from tests.artifacts.samples import kernel, left_out_set, unit, write_sample


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return write_sample(tmp_path / "set")


SM_80 = parse_target("sm_80")
SM_89 = parse_target("sm_89")


def test_what_a_set_holds(directory: Path) -> None:
    kernels = KernelSet.open(directory)
    assert kernels.path == directory
    assert kernels.roots == ("image", "sort")
    assert kernels.kernels == ("blur", "scale", "sort_step")
    assert [target.name for target in kernels.targets] == ["sm_80", "sm_89", "gfx90a:xnack+", "gfx11-generic", "x86-64-v3"]
    assert kernels.root_of("scale") == "image"
    assert kernels.entry("blur").block_size == (64, 2, 1)
    assert kernels.entry("sort_step", SM_80).kind == "kernel"
    assert kernels.unit("image", SM_89).toolchain["ptxas"] == "13.5.37"


def test_a_blob_is_verified_and_kept(directory: Path) -> None:
    kernels = KernelSet.open(str(directory))
    first = kernels.blob("image", SM_89, "ptx")
    assert first == b"image sm_89 ptx\n" * 3
    assert kernels.blob_path("image", SM_89, "ptx") == directory / "image.sm_89.ptx"
    (directory / "image.sm_89.ptx").unlink()
    assert kernels.blob("image", SM_89, "ptx") is first


def test_opening_reads_no_blob(directory: Path) -> None:
    for path in directory.glob("*.[pch]*"):
        path.write_bytes(b"")
    assert KernelSet.open(directory).kernels == ("blur", "scale", "sort_step")


def test_select(directory: Path) -> None:
    kernels = KernelSet.open(directory)
    chosen = kernels.select("scale", Device.cuda((8, 9), 13000))
    assert (chosen.root, chosen.target, chosen.kind) == ("image", SM_89, "cubin")
    assert chosen.data == chosen.path.read_bytes() == b"image sm_89 cubin\n"
    assert chosen.entry == kernels.entry("scale", SM_89)
    # The cubin needs a newer driver than this, the PTX does not.
    assert kernels.select("scale", Device.cuda((8, 9), 12080)).kind == "ptx"
    assert kernels.select("scale", Device.cuda((8, 6), 12080)).target == SM_80
    assert kernels.select("scale", Device.hip("gfx1101")).target.name == "gfx11-generic"
    assert kernels.select("scale", Device.cuda((12, 0), 13000)).target == SM_89


def test_select_without_a_match_says_what_there_is(directory: Path) -> None:
    with pytest.raises(ModuleLoadFailed) as caught:
        KernelSet.open(directory).select("scale", Device.hip("gfx90a:sramecc+:xnack-"))
    said = str(caught.value)
    assert said.startswith(f"kernel 'scale' of {directory}: no code for hip device gfx90a:sramecc+:xnack-")
    assert "gfx90a:xnack+ hsaco: is pinned to xnack+; the device runs with xnack-" in said
    assert "--target gfx90a" in said


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("scal", "did you mean 'scale'?"),
        ("sort_stop", "did you mean 'sort_step'?"),
        ("zzz", "it has blur, scale, sort_step"),
        ("", "it has blur"),
    ],
)
def test_an_unknown_kernel(directory: Path, name: str, says: str) -> None:
    kernels = KernelSet.open(directory)
    for ask in (kernels.root_of, kernels.entry, kernels.candidates, lambda name: kernels.select(name, Device.cuda((8, 9)))):
        with pytest.raises(KernelNotFound, match=f"no kernel {name!r} in") as caught:
            ask(name)
        assert says in str(caught.value)


def test_an_unknown_kernel_of_many_or_none(tmp_path: Path) -> None:
    many = KernelSet.open(write_sample(tmp_path / "many", [unit("r", "sm_80", *(kernel(f"k{number:02}") for number in range(12)))]))
    with pytest.raises(KernelNotFound, match="k09 and 2 more"):
        many.entry("other")
    with pytest.raises(KernelNotFound, match="it has none"):
        KernelSet.open(write_sample(tmp_path / "none", [])).entry("other")


def test_a_kernel_that_is_not_for_a_target(directory: Path) -> None:
    with pytest.raises(KernelNotFound, match="is not compiled for sm_89; it is for sm_80"):
        KernelSet.open(directory).entry("sort_step", SM_89)
    with pytest.raises(ArtifactError, match="no root 'sort' for sm_89; there are image, sort"):
        KernelSet.open(directory).blob("sort", SM_89, "ptx")
    with pytest.raises(ArtifactError, match="root 'sort' for sm_80 has no cubin"):
        KernelSet.open(directory).blob("sort", SM_80, "cubin")


# ---- what is not a set ----


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"no kernel set here \(no such folder\); make one with `gompute build"):
        KernelSet.open(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArtifactError, match=r"no kernel set here \(no index.json in it\)"):
        KernelSet.open(tmp_path / "empty")
    (tmp_path / "file").write_text("")
    with pytest.raises(ArtifactError, match="no kernel set here"):
        KernelSet.open(tmp_path / "file")


def test_an_index_that_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "index.json").mkdir()
    with pytest.raises(ArtifactError, match="not a regular file"):
        KernelSet.open(tmp_path)
    (tmp_path / "index.json").rmdir()
    os.mkfifo(tmp_path / "index.json")
    with pytest.raises(ArtifactError, match="not a regular file"):
        KernelSet.open(tmp_path)


def test_an_index_too_long_to_read(directory: Path) -> None:
    os.truncate(directory / "index.json", 1 << 40)
    with pytest.raises(ArtifactError, match="at most 67108864 are read"):
        KernelSet.open(directory)


def test_a_folder_of_links_is_the_set_that_it_links_to(directory: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.mkdir()
    for path in directory.iterdir():
        (linked / path.name).symlink_to(path)
    assert KernelSet.open(linked).blob("image", SM_80, "ptx") == b"image sm_80 ptx\n" * 3
    (tmp_path / "alias").symlink_to(directory)
    assert KernelSet.open(tmp_path / "alias").path == directory


# ---- damaged blobs ----


def damage(directory: Path, kind: str) -> Path:
    path = directory / "image.sm_89.ptx"
    data = path.read_bytes()
    outside = directory.parent / "outside.ptx"
    outside.write_bytes(data)
    if kind in ("missing", "link", "loop", "folder", "pipe"):
        path.unlink()
    match kind:
        case "truncated":
            path.write_bytes(data[:-1])
        case "empty":
            path.write_bytes(b"")
        case "longer":
            path.write_bytes(data + b"\n")
        case "other":
            path.write_bytes(data[:-1] + b"!")
        case "link":
            path.symlink_to(outside)
        case "loop":
            path.symlink_to(path)
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
    return path


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("missing", "missing"),
        ("truncated", "truncated: 47 bytes, the index says 48"),
        ("empty", "truncated: 0 bytes"),
        ("longer", "too long: 49 bytes, the index says 48"),
        ("other", "its sha256 is not the one in the index"),
        ("link", "is a symbolic link"),
        ("loop", "is a symbolic link"),
        ("folder", "not a regular file"),
        ("pipe", "not a regular file"),
    ],
)
def test_a_damaged_blob_is_refused_on_first_use(directory: Path, kind: str, says: str) -> None:
    path = damage(directory, kind)
    kernels = KernelSet.open(directory)
    with pytest.raises(ArtifactError) as caught:
        kernels.blob("image", SM_89, "ptx")
    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)
    # The others are as good as before.
    assert kernels.blob("image", SM_89, "cubin") == b"image sm_89 cubin\n"


def test_many_threads_read_a_blob_once(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gompute.artifacts.kernel_set as module

    reads: list[Path] = []
    real = module.read_regular

    def counting(path: Path, **options: int) -> bytes:
        reads.append(path)
        return real(path, **options)

    kernels = KernelSet.open(directory)
    monkeypatch.setattr(module, "read_regular", counting)
    threads = [threading.Thread(target=kernels.blob, args=("image", SM_89, "ptx")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reads) == 1


def test_a_set_moves(directory: Path, tmp_path: Path) -> None:
    shutil.move(directory, tmp_path / "elsewhere")
    assert KernelSet.open(tmp_path / "elsewhere").blob("sort", SM_80, "ptx")


HOW = (
    "  To add a kernel that is launched, scan the program and build again: gompute manifest scan PATH... -o MANIFEST\n"
    '  Where its name is known only at run time, declare it in pyproject.toml: [tool.gompute] keep = ["{name}"]'
)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("blur", ": the manifest that it was built with left it out: root 'image' makes it, and no launch of it was found\n"),
        (
            "blurr",
            (
                "; did you mean 'blur' (which the manifest left out)?\n"
                "  The manifest that it was built with left out some kernels and all of root 'sort'.\n"
            ),
        ),
        ("zzz", "; it has scale\n  The manifest that it was built with left out some kernels and all of root 'sort'.\n"),
    ],
)
def test_a_kernel_that_the_manifest_left_out_is_told_from_one_that_never_was(tmp_path: Path, name: str, says: str) -> None:
    kernels = KernelSet.open(
        left_out_set(tmp_path / "set", [unit("image", "sm_80", kernel("scale"))], {"sort": (), "image": ("blur", "tone")})
    )
    assert kernels.index.left_out == {"image": ("blur", "tone"), "sort": ()}
    for find in (kernels.root_of, kernels.entry, kernels.candidates):
        with pytest.raises(KernelNotFound) as caught:
            find(name)
        assert str(caught.value) == f"no kernel {name!r} in {kernels.path}{says}{HOW.format(name=name)}"

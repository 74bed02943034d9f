"""The images of a set as mappings."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gompute.artifacts.images import Entry, Lazy, mappings
from gompute.errors import ArtifactError
from tests.artifacts.samples import unit, write_sample


def test_images_by_target_and_root_and_entries_by_target_and_kernel(tmp_path: Path) -> None:
    found = mappings(write_sample(tmp_path / "set"))
    assert list(found) == ["cuda_images", "cuda_index", "hip_images", "hip_index"]
    assert {arch: list(roots) for arch, roots in found["cuda_images"].items()} == {"sm_80": ["image", "sort"], "sm_89": ["image"]}
    assert {arch: list(roots) for arch, roots in found["hip_images"].items()} == {"gfx90a:xnack+": ["image"], "gfx11-generic": ["image"]}
    assert {arch: list(kernels) for arch, kernels in found["cuda_index"].items()} == {
        "sm_80": ["blur", "scale", "sort_step"],
        "sm_89": ["blur", "scale"],
    }
    image = (tmp_path / "set" / "image.sm_80.ptx").read_bytes()
    assert found["cuda_images"]["sm_80"]["image"] == image
    assert found["cuda_index"]["sm_80"]["blur"] == Entry(blob=image, symbol="blur")
    assert found["hip_index"]["gfx90a:xnack+"]["scale"].blob == (tmp_path / "set" / "image.gfx90a-xnack-on.hsaco").read_bytes()


def test_a_target_with_ptx_and_cubin_gives_the_ptx_and_one_with_a_cubin_alone_that(tmp_path: Path) -> None:
    both = unit("a", "sm_89", cubin=True)
    lone = dataclasses.replace(both, root="b", blobs=both.blobs[1:], kernels=unit("b", "sm_89").kernels)
    images = mappings(write_sample(tmp_path / "set", [both, lone]))["cuda_images"]["sm_89"]
    assert images["a"] == both.blobs[0].data
    assert images["b"] == both.blobs[1].data


def test_a_set_without_a_backend_gives_an_empty_mapping(tmp_path: Path) -> None:
    found = mappings(write_sample(tmp_path / "set", [unit("a", "x86-64-v3")]))
    assert {name: dict(mapping) for name, mapping in found.items()} == {
        "cuda_images": {},
        "cuda_index": {},
        "hip_images": {},
        "hip_index": {},
    }
    with pytest.raises(KeyError, match=r"'sm_89' is none of the targets for cuda: \(none\)"):
        found["cuda_images"]["sm_89"]


def test_a_blob_is_read_when_it_is_asked_for_and_verified(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "set")
    found = mappings(folder)
    for blob in folder.glob("*.ptx"):
        blob.write_bytes(blob.read_bytes().replace(b"ptx", b"PTX"))
    images, index = found["cuda_images"]["sm_80"], found["cuda_index"]["sm_80"]
    assert (len(images), "sort" in images, "gone" in images, 3 in images) == (2, True, False, False)
    assert list(index) == ["blur", "scale", "sort_step"]
    assert repr(images) == "<roots for sm_80: image, sort>"
    with pytest.raises(ArtifactError, match="its sha256 is not the one in the index"):
        images["sort"]
    with pytest.raises(ArtifactError, match="its sha256 is not the one in the index"):
        index["blur"]


def test_a_blob_is_read_once(tmp_path: Path) -> None:
    folder = write_sample(tmp_path / "set")
    found = mappings(folder)
    first = found["cuda_images"]["sm_80"]["image"]
    (folder / "image.sm_80.ptx").unlink()
    assert found["cuda_index"]["sm_80"]["scale"].blob is first


def test_wrong_keys_name_what_there_is(tmp_path: Path) -> None:
    found = mappings(write_sample(tmp_path / "set"))
    with pytest.raises(KeyError, match="'sm_90' is none of the targets for cuda: sm_80, sm_89"):
        found["cuda_images"]["sm_90"]
    with pytest.raises(KeyError, match="'sort' is none of the roots for sm_89: image"):
        found["cuda_images"]["sm_89"]["sort"]
    with pytest.raises(KeyError, match="'blurr' is none of the kernels for sm_89: blur, scale"):
        found["cuda_index"]["sm_89"]["blurr"]
    assert found["cuda_images"].get("sm_90") is None


def test_nobody_can_change_a_mapping(tmp_path: Path) -> None:
    images = mappings(write_sample(tmp_path / "set"))["cuda_images"]
    with pytest.raises(TypeError):
        images["sm_80"] = {}  # type: ignore[index]
    with pytest.raises(AttributeError):
        images.extra = 1  # type: ignore[attr-defined]


def test_values_are_made_anew_each_time_and_only_when_asked_for() -> None:
    made: list[str] = []
    lazy = Lazy({"a": lambda: made.append("a")}, "letters")
    assert (len(lazy), list(lazy), "a" in lazy, made) == (1, ["a"], True, [])
    assert lazy["a"] is None
    assert made == ["a"]


def test_no_set_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no kernel set here"):
        mappings(tmp_path)

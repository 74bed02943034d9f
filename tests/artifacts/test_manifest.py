"""The launch manifest: its bytes, what is refused of it, and what several make together."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gompute.artifacts.manifest import Manifest, decode_manifest, encode_manifest, merge_manifests, public_name, read_manifest
from gompute.errors import ArtifactError

SAMPLE = Manifest({"image": {"axpy": ("f32", "f64"), "blur": ()}, "sort": {"step": ("f32,i32",)}})
TEXT = """{
 "kernels": {
  "image": {
   "axpy": [
    "f32",
    "f64"
   ],
   "blur": []
  },
  "sort": {
   "step": [
    "f32,i32"
   ]
  }
 },
 "version": 1
}
"""


def decoded(document: object) -> Manifest:
    return decode_manifest(json.dumps(document).encode(), "m.json")


def test_the_bytes_are_sorted_and_come_back() -> None:
    backwards = Manifest({"sort": {"step": ("f32,i32",)}, "image": {"blur": (), "axpy": ("f64", "f32")}})
    assert encode_manifest(SAMPLE).decode() == encode_manifest(backwards).decode() == TEXT
    assert decode_manifest(TEXT.encode(), "m.json") == SAMPLE


def test_call_sites_are_there_only_where_they_were_given() -> None:
    sites = Manifest({"a": {"k": ()}}, {"a": {"k": ("main.py:3", "main.py:20")}})
    assert json.loads(encode_manifest(sites))["call_sites"] == {"a": {"k": ["main.py:20", "main.py:3"]}}
    assert decode_manifest(encode_manifest(sites), "m.json").call_sites == {"a": {"k": ("main.py:20", "main.py:3")}}
    assert "call_sites" not in json.loads(encode_manifest(SAMPLE))


def test_public_names_are_those_of_instances() -> None:
    assert public_name("axpy", "f32,i32") == "axpy_f32_i32"
    assert SAMPLE.public_names("image") == ("axpy_f32", "axpy_f64", "blur")
    assert SAMPLE.public_names("nothing") == ()


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "must be an object, is a list"),
        ({}, "not a launch manifest: it lacks 'version' or 'kernels'; write one with `gompute manifest scan`"),
        ({"version": 2, "kernels": {}}, "version: is 2, this Gompute reads 1; scan again"),
        ({"version": True, "kernels": {}}, "version: is True, this Gompute reads 1; scan again"),
        ({"version": 1, "kernels": {}, "more": 1}, "has an unknown key 'more'"),
        ({"version": 1, "kernels": {"../a": {}}}, "kernels: '../a' is no name of a root"),
        ({"version": 1, "kernels": {"a": []}}, "kernels.a: must be an object, is a list"),
        ({"version": 1, "kernels": {"a": {"k k": []}}}, "kernels.a: 'k k' is no name of a kernel"),
        ({"version": 1, "kernels": {"a": {"k": "f32"}}}, "kernels.a.k: must be a list, is 'f32'"),
        ({"version": 1, "kernels": {"a": {"k": [1]}}}, "kernels.a.k[0]: must be a string, is 1"),
        ({"version": 1, "kernels": {"a": {"k": ["f32,"]}}}, "kernels.a.k[0]: must be names of types, joined by commas, is 'f32,'"),
        (
            {"version": 1, "kernels": {"a": {"k": ["f32"], "k_f32": []}}},
            "kernels: root 'a': 'k' and 'k_f32' both stand for the kernel 'k_f32'",
        ),
        ({"version": 1, "kernels": {}, "call_sites": {"a": {"k": [3]}}}, "call_sites.a.k[0]: must be a string, is 3"),
    ],
)
def test_what_is_no_manifest_is_refused_with_its_place(document: object, says: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        decoded(document)
    assert str(caught.value) == f"m.json: {says}"


def test_a_file_that_is_no_json_or_not_there_is_refused(tmp_path: Path) -> None:
    for data, says in (
        (b"\xff", "not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"version": 1, "version": 1}', "stands twice"),
    ):
        with pytest.raises(ArtifactError, match=says):
            decode_manifest(data, "m.json")
    with pytest.raises(ArtifactError, match="missing"):
        read_manifest(tmp_path / "none.json")
    (tmp_path / "real.json").write_text(TEXT)
    (tmp_path / "link.json").symlink_to("real.json")
    assert read_manifest(tmp_path / "link.json") == SAMPLE


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner),
)


@given(JSON, st.sampled_from([("version",), ("kernels",), ("kernels", "image"), ("kernels", "image", "axpy"), ("call_sites",)]))
def test_no_document_does_more_than_be_refused(value: Any, path: tuple[str, ...]) -> None:
    document = json.loads(TEXT)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with contextlib.suppress(ArtifactError):
        made = decoded(document)
        assert decode_manifest(encode_manifest(made), "again").kernels == made.kernels


def test_a_merge_is_the_union_in_any_order() -> None:
    one = Manifest({"image": {"axpy": ("f32",), "blur": ()}})
    two = Manifest({"image": {"axpy": ("f64",)}, "sort": {"step": ("f32,i32",)}})
    assert merge_manifests([("one", one), ("two", two)]) == merge_manifests([("two", two), ("one", one)]) == SAMPLE
    assert merge_manifests([("one", one), ("one", one)]) == one


def test_call_sites_are_united_where_all_have_them() -> None:
    one, two = (Manifest({"a": {"k": ()}}, {"a": {"k": (site,)}}) for site in ("one.py:1", "two.py:2"))
    assert merge_manifests([("1", one), ("2", two)]).call_sites == {"a": {"k": ("one.py:1", "two.py:2")}}
    assert merge_manifests([("1", one), ("s", SAMPLE)]).call_sites is None


def test_a_kernel_in_two_roots_names_both_and_their_manifests() -> None:
    with pytest.raises(ArtifactError) as caught:
        merge_manifests([("one.json", Manifest({"a": {"k": ("f32",)}})), ("two.json", Manifest({"b": {"k_f32": ()}}))])
    assert str(caught.value) == (
        "kernel 'k_f32' is in root 'a' (one.json) and in root 'b' (two.json); "
        'a name is unique in a kernel set: rename one of them (name="..."), or name the root alike in both packages'
    )


def test_a_kernel_generic_in_one_manifest_alone_is_refused() -> None:
    with pytest.raises(ArtifactError, match="kernel 'k' of root 'a' has instances in one manifest and none in another"):
        merge_manifests([("one", Manifest({"a": {"k": ("f32",)}})), ("two", Manifest({"a": {"k": ()}}))])


def test_a_key_that_stands_twice_among_many_is_told_at_once() -> None:
    keys = b",".join(b'"r%d": {}' % number for number in (*range(50_000), 49_999))
    with pytest.raises(ArtifactError, match="the key 'r49999' stands twice in one object"):
        decode_manifest(b'{"version": 1, "kernels": {' + keys + b"}}", "m.json")

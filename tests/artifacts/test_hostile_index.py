"""An index that was tampered with: an `ArtifactError` that names the file and the place, or a set that works; never anything else."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gompute.artifacts.index import Index, decode_index, encode_index
from gompute.artifacts.kernel_set import KernelSet
from gompute.artifacts.name_table import kernel_from_json
from gompute.errors import ArtifactError, KernelNotFound, ModuleLoadFailed
from gompute.targets.device import Device
from tests.artifacts.samples import write_sample


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sample(tmp_path_factory.mktemp("hostile") / "set")


@pytest.fixture(scope="module")
def good(directory: Path) -> bytes:
    return (directory / "index.json").read_bytes()


def put(*path: str | int, value: object) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return change


def drop(*path: str | int) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        del document[path[-1]]

    return change


SM_89 = ("roots", "image", "sm_89")
PTX = (*SM_89, "blobs", "ptx")
SCALE = (*SM_89, "kernels", "scale")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (put("format", value=2), "format: is 2, this Gompute reads 1"),
        (put("format", value=True), "format: is True"),
        (put("format", value=1.0), "format: is 1.0"),
        (put("format", value="1"), "format: is '1'"),
        (drop("format"), "not the index of a kernel set"),
        (drop("roots"), "lacks 'roots'"),
        (put("extra", value=0), "has an unknown key 'extra'"),
        (put("generator", value=None), "generator: must be an object"),
        (put("generator", value={"gompute": "/home/someone"}), "generator.gompute: must be a version"),
        (put(*SM_89, "mode", value="safe"), "sm_89.mode: must be an object, is 'safe'"),
        (put(*SM_89, "mode", value={"optimize": "safe"}), "sm_89.mode: lacks 'lineinfo'"),
        (put(*SM_89, "mode", value={"lineinfo": 0, "optimize": "safe"}), "sm_89.mode: must have a lineinfo that is true or false"),
        (put(*SM_89, "mode", value={"lineinfo": False, "optimize": "O3"}), "and an optimize that is one of fast, safe, debug"),
        (put(*SM_89, "source", value={"module": "0" * 64}), "sm_89.source: lacks 'imports'"),
        (put(*SM_89, "source", value={"module": "0" * 63, "imports": {}}), "sm_89.source.module: must be 64 hex digits"),
        (put(*SM_89, "source", value={"module": "0" * 64, "imports": {"a.py": "x"}}), "source.imports.a.py: must be 64 hex digits"),
        (put(*SM_89, "source", value={"module": "0" * 64, "imports": {"../a.py": "0" * 64}}), "'../a.py' is no path below a root's folder"),
        (put(*SM_89, "source", value={"module": "0" * 64, "imports": {"/a.py": "0" * 64}}), "'/a.py' is no path below a root's folder"),
        (put(*SM_89, "source", value={"module": "0" * 64, "imports": {"a\n.py": "0" * 64}}), "is no path below a root's folder"),
        (put("left_out", value=[]), "left_out: must be an object, is a list"),
        (put("left_out", value={"../up": []}), "left_out: '../up' is no name of a root"),
        (put("left_out", value={"image": [7]}), "left_out.image[0]: must be a string, is 7"),
        (put("left_out", value={"image": ["scale"]}), "left_out.image: lists 'scale', which is in the set"),
        (put("left_out", value={"image": []}), "left_out.image: lists nothing, and the root is in the set"),
        (put("roots", value=[]), "roots: must be an object, is a list"),
        (put("roots", "../up", value={}), "'../up' is no name of a root"),
        (put("roots", "", value={}), "'' is no name of a root"),
        (put("roots", "a\n", value={}), "is no name of a root"),
        (put("roots", "image", "sm_999", value={}), "unknown target 'sm_999'"),
        (put("roots", "image", "gfx90a:xnack+:sramecc+", value={}), "unknown target"),
        (put(*SM_89, "blobs", value={}), "blobs: lists none"),
        (put(*SM_89, "blobs", "hsaco", value={}), "unknown key 'hsaco'"),
        (put(*PTX, "file", value="../image.sm_89.ptx"), "leaves the set; it must be 'image.sm_89.ptx'"),
        (put(*PTX, "file", value="/etc/passwd"), "leaves the set"),
        (put(*PTX, "file", value=".."), "leaves the set"),
        (put(*PTX, "file", value="..\\image.sm_89.ptx"), "leaves the set"),
        (put(*PTX, "file", value="image.sm_80.ptx"), "is not its name"),
        (put(*PTX, "file", value="image.sm_89.ptx\0"), "printable characters"),
        (put(*PTX, "length", value=0), "length: must be an integer from 1"),
        (put(*PTX, "length", value=-1), "length: must be an integer"),
        (put(*PTX, "length", value=True), "length: must be an integer"),
        (put(*PTX, "length", value=48.0), "length: must be an integer"),
        (put(*PTX, "length", value=1 << 62), "length: must be an integer"),
        (put(*PTX, "sha256", value="A" * 64), "sha256: must be 64 hex digits"),
        (put(*PTX, "sha256", value=None), "sha256: must be a string, is None"),
        (put(*PTX, "ptx_version", value="7"), "ptx_version: must be a version of ptx"),
        (put(*PTX, "ptx_version", value="\u0667.8"), "ptx_version: must be a version of ptx"),
        (put(*PTX, "code_object_version", value="5"), "unknown key 'code_object_version'"),
        (put(*SM_89, "kernels", value=None), "kernels: must be an object"),
        (put(*SM_89, "kernels", "a.b", value={}), "'a.b' is no C identifier"),
        (put(*SM_89, "toolchain", "LLVM", value="1"), "'LLVM' is no name of a tool"),
        (put(*SM_89, "ir", value={"scale": "0" * 64}), "lists other kernels than 'kernels'"),
        (put(*SM_89, "ir", value={"scale": "0", "blur": "0"}), "64 hex digits"),
        (put(*SCALE, "name", value="other"), "calls itself 'other'"),
        (put(*SCALE, "symbol", value="scale;"), "symbol: must be a C identifier"),
        (put(*SCALE, "symbol", value="x" * 1000), "symbol: must be 1 to 255"),
        (put(*SCALE, "kind", value=7), "kind: must be a string, is 7"),
        (put(*SCALE, "signature", value="map something else"), "signature: does not follow from the kernel's arguments"),
        (put(*SCALE, "fingerprint", value="0" * 16), "fingerprint: does not follow from the kernel's arguments"),
        (put(*SCALE, "signature", value="\ud800"), "signature: must be 1 to"),
        (put(*SCALE, "kind", value="kernel"), "signature: does not follow from the kernel's arguments"),
        (put(*SCALE, "block_size", 0, value=512), "signature: does not follow from the kernel's arguments"),
        (put(*SCALE, "arguments", 0, "dtype", value="u32"), "signature: does not follow from the kernel's arguments"),
        (put(*SCALE, "arguments", 1, "name", value="n"), "signature: does not follow from the kernel's arguments"),
        (put(*SCALE, "block_size", value=[256, 1]), "must have three numbers"),
        (put(*SCALE, "block_size", value=[256, 1, 0]), "block_size[2]: must be an integer from 1 to 1024"),
        (put(*SCALE, "block_size", value=256), "block_size: must be a list"),
        (put(*SCALE, "arguments", value={}), "arguments: must be a list, is an object"),
        (put(*SCALE, "arguments", 0, "kind", value="texture"), "kind: must be pointer, array, extent, scalar, params or bytes"),
        (put(*SCALE, "arguments", 0, "dtype", value="f8"), "arguments[0].dtype: must be one of bool, i8"),
        (put(*SCALE, "arguments", 0, "size", value=4), "a pointer of f32 has size and alignment 8, not 4 and 8"),
        (put(*SCALE, "arguments", 1, "size", value=4), "a scalar of u64 has size and alignment 8"),
        (put(*SCALE, "arguments", 2, "size", value=16), "disagrees with its layout"),
        (drop(*SCALE, "arguments", 2, "layout"), "arguments[2]: params, and nothing else, have a layout"),
        (put(*SCALE, "arguments", 0, "layout", value={}), "arguments[0]: params, and nothing else, have a layout"),
        (put(*SCALE, "arguments", 2, "layout", value=None), "layout: must be an object"),
        (put(*SCALE, "arguments", 2, "layout", "size", value=14), "must be a multiple of the alignment"),
        (put(*SCALE, "arguments", 2, "layout", "align", value=3), "power of two"),
        (put(*SCALE, "arguments", 2, "layout", "fields", 1, "offset", value=2), "overlaps the field before"),
        (put(*SCALE, "arguments", 2, "layout", "fields", 1, "count", value=1 << 40), "count: must be an integer"),
        (put(*SCALE, "arguments", 2, "layout", "fields", 1, "count", value=5), "leaves the 12 bytes"),
        (put(*SCALE, "arguments", 2, "layout", "fields", 2, "dtype", value="u64"), "is no multiple of 8"),
        (put(*SCALE, "resources", "registers", value=-1), "registers: must be an integer"),
        (put(*SCALE, "resources", "warps", value=1), "unknown key 'warps'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(good: bytes, change: Callable[[Any], None], says: str) -> None:
    document = json.loads(good)
    change(document)
    with pytest.raises(ArtifactError) as caught:
        decode_index(json.dumps(document).encode(), "/opt/set/index.json")
    assert str(caught.value).startswith("/opt/set/index.json: ")
    assert says in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_kernel_of_two_roots_is_refused(good: bytes) -> None:
    document = json.loads(good)
    document["roots"]["sort"]["sm_80"]["kernels"]["blur"] = document["roots"]["image"]["sm_80"]["kernels"]["blur"]
    with pytest.raises(ArtifactError, match="kernel 'blur' is in root 'image' and in root 'sort'"):
        decode_index(json.dumps(document).encode(), "x")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"null", "must be an object, is None"),
        (b"[]", "must be an object, is a list"),
        (b'{"format": 1, "format": 1}', "the key 'format' stands twice"),
        (b'{"format": NaN}', "NaN is no JSON number"),
        (b'{"format": -Infinity}', "-Infinity is no JSON number"),
        (b'{"format": ' + b"1" * 5000 + b"}", "not valid JSON"),
        (b"\xff\xfe{}", "not valid JSON"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b"[" * 900 + b"]" * 900, "must be an object"),
        (b"\x7fELF" + bytes(64), "not valid JSON"),
    ],
    ids=range(14),
)
def test_what_is_no_index_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        decode_index(data, "index.json")
    assert says in str(caught.value)


@pytest.mark.parametrize("depth", [10, 300, 900, 5000])
def test_a_value_of_any_depth_is_refused(good: bytes, depth: int) -> None:
    changed = good.replace(b'"kind": "map"', b'"kind": ' + b"[" * depth + b"]" * depth)
    assert changed != good
    with pytest.raises(ArtifactError, match=r"kind: must be a string, is a list|nested too deeply"):
        decode_index(changed, "index.json")


@pytest.mark.parametrize("value", [None, [], "scale", {}, {"name": "scale"}])
def test_an_entry_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(ArtifactError):
        kernel_from_json(value)


# ---- random tampering ----

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["sm_80", "../x", "ptx", "f32"])
)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=6
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths to all values inside."""
    found = [path] if path else []
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        found += places(child, (*path, key))
    return found


def check_outcome(data: bytes, path: Path) -> None:
    """Reading refuses it with the file's name, or using it does not trip over it."""
    try:
        index = decode_index(data, "index.json")
    except ArtifactError as error:
        said = str(error)
    else:
        check_use(index, path)
        return
    assert said.startswith("index.json: ")
    assert len(said) < 400


def check_use(index: Index, path: Path) -> None:
    kernels = KernelSet(path, index)
    assert decode_index(encode_index(index), "again") == index
    for name in kernels.kernels:
        assert kernels.entry(name).name == name
        for device in (Device.cuda((8, 9), 12080), Device.hip("gfx90a:sramecc+:xnack-"), Device.cpu("x86_64", [])):
            with contextlib.suppress(ModuleLoadFailed):
                assert kernels.select(name, device).entry.name == name
    with pytest.raises(KernelNotFound):
        kernels.entry("no such kernel")


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_random_values_anywhere(data: st.DataObject, directory: Path, good: bytes) -> None:
    document = json.loads(good)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(document)))
        change = data.draw(st.sampled_from(["replace", "drop", "copy"]))
        if change == "drop":
            drop(*path)(document)
        elif change == "replace":
            put(*path, value=data.draw(_VALUES))(document)
        else:
            source: Any = document
            for key in data.draw(st.sampled_from(places(document))):
                source = source[key]
            put(*path, value=copy.deepcopy(source))(document)
        if not places(document):
            break
    check_outcome(json.dumps(document).encode(), directory)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_random_bytes_anywhere(data: st.DataObject, directory: Path, good: bytes) -> None:
    changed = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(changed)))
        changed[start : start + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=8) | st.just(good[start : start + 30]))
    check_outcome(bytes(changed), directory)


def test_a_change_that_keeps_it_sound_is_a_set(directory: Path, good: bytes) -> None:
    """The reader refuses what is wrong, not what it has not seen."""
    document = json.loads(good)
    document["generator"]["another"] = "9.9-rc1"
    document["roots"]["image"]["sm_89"]["kernels"]["scale"]["resources"]["spills"] = 4
    document["roots"]["image"]["sm_75"] = json.loads(json.dumps(document["roots"]["image"]["sm_80"]).replace("sm_80", "sm_75"))
    index = decode_index(json.dumps(document).encode(), "index.json")
    assert len(index.units) == 7
    check_use(index, directory)

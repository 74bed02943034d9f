"""The index: its bytes, and back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from gompute.artifacts.entry import ArgumentEntry, KernelEntry
from gompute.artifacts.index import Index, SourceEntry, decode_index, encode_index
from gompute.artifacts.kernel_set import KernelSet
from gompute.artifacts.merge import merged_units
from gompute.artifacts.name_table import kernel_from_json, kernel_to_json
from gompute.errors import ArtifactError
from gompute.targets import Mode
from tests.artifacts.samples import GENERATOR, kernel, raw_kernel, sample_units, write_sample


def test_shape(tmp_path: Path) -> None:
    document = json.loads((write_sample(tmp_path / "set") / "index.json").read_text())
    assert document["format"] == 1
    assert document["generator"] == GENERATOR
    unit = document["roots"]["image"]["sm_89"]
    assert unit["toolchain"] == {"llvm": "22.1.0", "llvmlite": "0.50.0", "ptxas": "13.5.37"}
    assert unit["blobs"]["ptx"]["file"] == "image.sm_89.ptx"
    assert unit["blobs"]["ptx"]["ptx_version"] == "7.8"
    assert unit["blobs"]["ptx"]["length"] == 48
    assert unit["blobs"]["cubin"]["ptxas_version"] == "13.5.37"
    blob = document["roots"]["image"]["gfx90a:xnack+"]["blobs"]["hsaco"]
    digest = hashlib.sha256(b"image gfx90a:xnack+ hsaco\n" * 3).hexdigest()
    assert blob == {"code_object_version": "5", "file": "image.gfx90a-xnack-on.hsaco", "length": 78, "sha256": digest}
    assert "ptx_version" not in document["roots"]["image"]["x86-64-v3"]["blobs"]["so"]
    assert unit["kernels"]["scale"]["resources"] == {"registers": 12, "shared": 0}
    assert unit["kernels"]["blur"]["block_size"] == [64, 2, 1]
    assert unit["kernels"]["blur"]["arguments"][0]["kind"] == "pointer"


def test_bytes_do_not_depend_on_the_order_of_units(tmp_path: Path) -> None:
    first = write_sample(tmp_path / "a", sample_units())
    second = write_sample(tmp_path / "b", sample_units()[::-1])
    assert (first / "index.json").read_bytes() == (second / "index.json").read_bytes()


def test_bytes_are_ascii_sorted_and_end_in_a_newline(tmp_path: Path) -> None:
    data = (write_sample(tmp_path / "set") / "index.json").read_bytes()
    assert data.isascii()
    assert data == json.dumps(json.loads(data), indent=1, sort_keys=True).encode() + b"\n"
    assert str(tmp_path).encode() not in data


def test_decoding_is_the_inverse_of_encoding(tmp_path: Path) -> None:
    index = KernelSet.open(write_sample(tmp_path / "set")).index
    assert decode_index(encode_index(index), "x") == index
    assert index.roots == ("image", "sort")
    assert [target.name for target in index.targets] == ["sm_80", "sm_89", "gfx90a:xnack+", "gfx11-generic", "x86-64-v3"]
    assert [unit.root for unit in index.units] == ["image"] * 5 + ["sort"]
    assert index.owners() == {"scale": "image", "blur": "image", "sort_step": "sort"}


@pytest.mark.parametrize("mode", [Mode("safe"), Mode("debug"), Mode("fast", lineinfo=True)])
def test_the_mode_of_a_unit_is_kept_also_by_a_merge(tmp_path: Path, mode: Mode) -> None:
    write_sample(tmp_path / "set", [replace(unit, mode=mode) for unit in sample_units()])
    opened = KernelSet.open(tmp_path / "set")
    assert {unit.mode for unit in opened.index.units} == {mode}
    assert {unit.mode for unit in merged_units([opened])} == {mode}
    other = KernelSet.open(write_sample(tmp_path / "other"))
    with pytest.raises(ArtifactError, match=f"differ: one was built {mode}, the other fast; build one of them again"):
        merged_units([opened, other])


def test_the_source_of_a_unit_is_kept_also_by_a_merge(tmp_path: Path) -> None:
    source, other = SourceEntry("0" * 64, {"lib/rates.py": "1" * 64}), SourceEntry("2" * 64, {})

    def opened(name: str, given: SourceEntry | None) -> KernelSet:
        return KernelSet.open(write_sample(tmp_path / name, [replace(unit, source=given) for unit in sample_units()]))

    one, two, none = opened("one", source), opened("two", other), opened("none", None)
    assert {unit.source == source for unit in one.index.units} == {True}
    for sets, expected in (([one], source), ([one, none], source), ([none, one], source), ([one, two], None), ([two, one], None)):
        assert {unit.source == expected for unit in merged_units(sets)} == {True}


def test_an_empty_set_is_a_set() -> None:
    assert decode_index(encode_index(Index({"gompute": "1"}, ())), "x").units == ()


def test_an_entry_survives_json() -> None:
    for entry in (kernel("scale"), raw_kernel("blur")):
        assert kernel_from_json(json.loads(json.dumps(kernel_to_json(entry)))) == entry


def test_an_entry_of_another_compilers_kernel_survives_json_and_is_checked() -> None:
    arguments = (ArgumentEntry("p", "pointer", "any", 8, 8), ArgumentEntry("s", "bytes", "bytes", 12, 64))
    entry = KernelEntry("k", "k", "kernel", arguments, (1024, 1, 1))
    assert entry.signature == "kernel(p: ptr[any], s: bytes[12, align 64]) block<=1024,1,1"
    assert kernel_from_json(json.loads(json.dumps(kernel_to_json(entry)))) == entry
    for place, key, value in ((1, "align", 3), (1, "align", 256), (1, "dtype", "f32"), (0, "size", 4), (1, "size", 0)):
        document = kernel_to_json(entry)
        document["arguments"][place][key] = value
        with pytest.raises(ArtifactError):
            kernel_from_json(document)


def test_the_signature_says_all_that_a_launch_depends_on() -> None:
    fields = "scale: f32 @0; table: u16[3] @4; inner.flag: bool @10; size 12, align 4"
    assert kernel("scale").signature == f"map(data: ptr[f32], len: u64, params: Params{{{fields}}}) block=256,1,1"
    assert raw_kernel("blur").signature == "kernel(out: ptr[f64], n: u64) block<=64,2,1"
    assert kernel("scale").fingerprint == hashlib.sha256(kernel("scale").signature.encode()).hexdigest()[:16]

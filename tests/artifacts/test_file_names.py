"""Names in a set."""

from __future__ import annotations

import pytest

from gompute.artifacts.names import blob_file, is_identifier, is_root_name, is_set_file, listing_file, module_fault
from gompute.targets import all_targets, parse_target


@pytest.mark.parametrize("name", ["image", "a.b", "fft-2d", "_x", "7z", "x" * 128])
def test_names_of_roots(name: str) -> None:
    assert is_root_name(name)
    assert is_set_file(f"{name}.sm_80.ptx")


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "-o", "a/b", "a b", "a\n", "\u00e9", "x" * 129])
def test_names_that_no_root_has(name: str) -> None:
    assert not is_root_name(name)
    assert not is_set_file(f"{name}.sm_80.ptx")


def test_identifiers() -> None:
    assert all(map(is_identifier, ["scale", "_", "a1", "A_b"]))
    assert not any(map(is_identifier, ["", "1a", "a.b", "a-b", "a\n", "\u00e9", "x" * 256]))


def test_every_file_that_is_made_is_known_as_one() -> None:
    for target in all_targets():
        assert all(is_set_file(blob_file("a.b", target, kind)) for kind in target.kinds)
        assert is_set_file(listing_file("r", target, "ir"))
    assert blob_file("r", parse_target("gfx90a:xnack+"), "hsaco") == "r.gfx90a-xnack-on.hsaco"
    assert listing_file("r", parse_target("sm_90a"), "asm") == "r.sm_90a.s"


@pytest.mark.parametrize(
    "name", ["notes.txt", "libmine.so", "r.sm_80", "r.sm_999.ptx", "r.gfx90a:xnack+.hsaco", ".sm_80.ptx", "index.json~"]
)
def test_other_files_are_not(name: str) -> None:
    assert not is_set_file(name)


@pytest.mark.parametrize("name", ["gompute_kernels", "k", "Photo2", "_mine", "x" * 64])
def test_names_of_modules(name: str) -> None:
    assert module_fault(name) is None


@pytest.mark.parametrize("name", ["", "2k", "a-b", "a.b", "a/b", "..", "k\n", "\u00e9", "x" * 65, "class", "None"])
def test_names_that_no_module_has(name: str) -> None:
    assert module_fault(name) == "it must be a Python identifier of ASCII letters, digits and underscores, at most 64"


@pytest.mark.parametrize("name", ["gompute", "json", "__main__", "__pycache__"])
def test_names_that_would_hide_a_module(name: str) -> None:
    assert module_fault(name) == "it would hide another module of that name"

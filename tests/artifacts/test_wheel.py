"""Wheels: their bytes, and what installers read in them."""

from __future__ import annotations

import base64
import email
import hashlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from gompute.artifacts import wheel
from gompute.artifacts.destination import WheelFile
from gompute.artifacts.package import package_files
from gompute.artifacts.wheel import make_wheel, wheel_name_fault
from gompute.artifacts.write import set_content
from gompute.errors import ArtifactError
from tests.artifacts.samples import GENERATOR, contents, sample_units, unit
from tests.artifacts.test_package import fresh, put

FILES = package_files(set_content(sample_units(), generator=GENERATOR))


def opened(tmp_path: Path, module: str = "some_kernels") -> tuple[Path, zipfile.ZipFile]:
    file = put(WheelFile(tmp_path / "dist", module, "0.1.0"))
    return file, zipfile.ZipFile(file)


def test_name_version_and_tag_of_the_file(tmp_path: Path) -> None:
    file, archive = opened(tmp_path)
    archive.close()
    assert os.listdir(tmp_path / "dist") == [file.name]
    name, version, build, tags = parse_wheel_filename(file.name)
    assert (name, build, [str(tag) for tag in tags]) == ("some-kernels", (), ["py3-none-any"])
    assert (version.public, str(version)) == ("0.1.0", file.name.split("-")[1]), "the version is in its normal form"
    assert version.local is not None and len(version.local) == len("set") + 16


def test_the_record_lists_every_file_and_comes_last(tmp_path: Path) -> None:
    file, archive = opened(tmp_path)
    with archive:
        info = f"some_kernels-{file.name.split('-')[1]}.dist-info"
        names = archive.namelist()
        assert names == [*(f"some_kernels/{name}" for name in sorted(FILES)), f"{info}/METADATA", f"{info}/WHEEL", f"{info}/RECORD"]
        lines = archive.read(f"{info}/RECORD").decode().splitlines()
        assert lines[-1] == f"{info}/RECORD,,"
        for name, line in zip(names[:-1], lines[:-1], strict=True):
            data = archive.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            assert line == f"{name},sha256={digest},{len(data)}"
        assert {name: archive.read(f"some_kernels/{name}") for name in FILES} == FILES
        metadata = email.message_from_bytes(archive.read(f"{info}/METADATA"))
        assert dict(metadata) == {
            "Metadata-Version": "2.1",
            "Name": "some_kernels",
            "Version": file.name.split("-")[1],
            "Summary": "Kernels compiled ahead of time by Gompute",
            "Requires-Python": ">=3.11",
            "Requires-Dist": "gompute>=0.1.0",
        }
        assert dict(email.message_from_bytes(archive.read(f"{info}/WHEEL"))) == {
            "Wheel-Version": "1.0",
            "Generator": "gompute 0.1.0",
            "Root-Is-Purelib": "true",
            "Tag": "py3-none-any",
        }


def test_nothing_in_it_depends_on_the_clock_the_user_or_zlib(tmp_path: Path) -> None:
    _, archive = opened(tmp_path)
    with archive:
        for entry in archive.infolist():
            assert entry.date_time == (1980, 1, 1, 0, 0, 0)
            assert entry.compress_type == zipfile.ZIP_STORED
            assert (entry.create_system, entry.external_attr, entry.extra, entry.comment) == (3, 0o100644 << 16, b"", b"")


def test_the_same_set_gives_the_same_bytes_and_another_set_another_version(tmp_path: Path) -> None:
    first = put(WheelFile(tmp_path / "a", "k", "0.1.0"))
    second = put(WheelFile(tmp_path / "b" / "c", "k", "0.1.0"), sample_units()[::-1])
    assert (first.name, first.read_bytes()) == (second.name, second.read_bytes())
    other = put(WheelFile(tmp_path / "a", "k", "0.1.0"), [unit("only", "sm_75")])
    assert sorted(os.listdir(tmp_path / "a")) == sorted([first.name, other.name]), "an older wheel is nobody's to delete"


def test_a_hash_of_digits_alone_keeps_its_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel, "_digest_of", lambda files: "00123456789" * 4)
    version = make_wheel("k", {}, "0.1.0").file.split("-")[1]
    assert version == str(Version(version)) == "0.1.0+set0012345678900123"


@pytest.mark.parametrize(("module", "file"), [("Photo_Kernels", "photo_kernels"), ("a__b", "a_b"), ("k2", "k2")])
def test_the_file_has_the_name_in_its_normal_form_and_the_package_the_one_that_is_imported(module: str, file: str) -> None:
    made = make_wheel(module, {"__init__.py": b""}, "0.1.0")
    assert made.file.split("-")[0] == file
    assert f"{module}/__init__.py".encode() in made.data
    assert f"Name: {module}\n".encode() in made.data


def test_names_that_no_wheel_can_have() -> None:
    for module in ("_k", "k_", "_"):
        assert wheel_name_fault(module) == "a wheel's name must start and end with a letter or a digit"
    assert wheel_name_fault("gompute_kernels") is None


@pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="this environment has no pip")
def test_pip_installs_it_and_python_finds_it(tmp_path: Path) -> None:
    file, archive = opened(tmp_path)
    archive.close()
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-compile", "--target", str(tmp_path / "site")]
    environment = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CONFIG_FILE": os.devnull, "PATH": os.defpath, "HOME": str(tmp_path)}
    done = subprocess.run([*command, "--root-user-action=ignore", str(file)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert contents(tmp_path / "site" / "some_kernels") == FILES
    code = "import some_kernels, importlib.metadata as m; print(some_kernels.root_names, m.version('some-kernels'))"
    assert fresh(code, tmp_path / "site") == f"('image', 'sort') {file.name.split('-')[1]}\n"


def test_a_wheel_goes_into_no_kernel_set_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "index.json").write_text("{}")
    (tmp_path / "file").write_text("mine")
    for folder, says in (
        ("set", "is a kernel set"),
        ("file", "is a file; a folder is wanted"),
        ("file/below", "could not write the wheel"),
    ):
        with pytest.raises(ArtifactError, match=says):
            put(WheelFile(tmp_path / folder, "k", "0.1.0"))
    assert sorted(os.listdir(tmp_path)) == ["file", "set"]
    assert os.listdir(tmp_path / "set") == ["index.json"]


def test_what_is_no_folder_is_refused_before_anything_compiles(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ArtifactError, match="is a file; a folder is wanted"):
        WheelFile(tmp_path / "file", "k", "0.1.0").check()

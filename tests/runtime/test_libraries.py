"""Finding the driver, with stand-ins for its library that the loader of this process can open."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from gompute.errors import BackendUnavailable
from gompute.runtime import libraries
from gompute.runtime.libraries import DriverMissing, find_library
from tests.driver.build import compile_shared
from tests.driver.control import VENDORS, Vendor
from tests.driver.fresh import fresh

MISSING = "libgompute-test-missing.so.1"


def library(folder: Path, name: str, cache: Path, soname: str | None = None) -> Path:
    """A shared object that means nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "empty.c"
    source.write_text("int nothing;\n")
    return compile_shared([source], folder / name, cache, "-nostdlib", f"-Wl,-soname,{soname or name}")


@pytest.fixture(autouse=True)
def _no_override(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TEST_LIB", raising=False)
    monkeypatch.setattr(libraries, "_NIXOS_DRIVERS", str(tmp_path / "nixos"))


def test_none_is_told_with_every_place_and_the_override(tmp_path: Path) -> None:
    with pytest.raises(DriverMissing) as raised:
        find_library("TEST", "TEST_LIB", (MISSING,), iter([str(tmp_path / "opt" / MISSING)]))
    text = str(raised.value)
    assert text.startswith("no TEST driver on this machine; tried (set TEST_LIB to name another place):\n")
    assert [line.split(":")[0].strip() for line in text.splitlines()[1:]] == [
        str(tmp_path / "nixos" / MISSING),
        MISSING,
        str(tmp_path / "opt" / MISSING),
    ]


def test_an_override_is_the_only_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, zig_cache: Path) -> None:
    name = "libgompute-test-a.so.1"
    library(tmp_path / "nixos", name, zig_cache)
    override = library(tmp_path / "mine", name, zig_cache)
    monkeypatch.setenv("TEST_LIB", str(override))
    assert find_library("TEST", "TEST_LIB", (name,)).path == str(override)
    monkeypatch.setenv("TEST_LIB", str(tmp_path / "mine"))
    assert find_library("TEST", "TEST_LIB", ("libother.so", name)).path == str(override)


def test_an_override_that_cannot_be_loaded_is_no_missing_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"not a library")
    monkeypatch.setenv("TEST_LIB", str(broken))
    with pytest.raises(BackendUnavailable, match=f"TEST_LIB={broken} cannot be loaded as the TEST driver:\n") as raised:
        find_library("TEST", "TEST_LIB", (MISSING,))
    assert not isinstance(raised.value, DriverMissing)


def test_an_override_after_another_of_that_name_comes_too_late(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, zig_cache: Path) -> None:
    name = "libgompute-test-b.so.1"
    library(tmp_path / "nixos", name, zig_cache)
    find_library("TEST", "TEST_LIB", (name,))
    monkeypatch.setenv("TEST_LIB", str(library(tmp_path / "mine", name, zig_cache)))
    with pytest.raises(BackendUnavailable, match="comes too late: this process has already loaded another libgompute-test-b.so.1"):
        find_library("TEST", "TEST_LIB", (name,))


def test_the_order_of_places(tmp_path: Path, zig_cache: Path) -> None:
    name, fallback = "libgompute-test-c.so.1", tmp_path / "opt" / "libgompute-test-d.so.1"
    library(fallback.parent, fallback.name, zig_cache)
    assert find_library("TEST", "TEST_LIB", (name,), [str(fallback)]).path == str(fallback)
    nixos = library(tmp_path / "nixos", name, zig_cache)
    found = find_library("TEST", "TEST_LIB", (name,), [str(fallback)])
    assert found.path == str(nixos)
    again = find_library("TEST", "TEST_LIB", (name,))
    assert (again.path, again.handle) == (name, found.handle), "what the process has loaded is used again"


# ---- the real bindings, each in a process of its own ----

OPEN = """
    from gompute.errors import Error
    from gompute.runtime import {backend}
    {patch}
    try:
        print("opened", {backend}.Context().device.label)
    except Error as error:
        print(type(error).__name__, error)
"""


def opened(vendor: Vendor, patch: str = "", **environment: str | Path) -> str:
    pytest.importorskip({"cuda": "cuda.bindings.driver", "hip": "rocm.bindings.hip"}[vendor.backend])
    return fresh(OPEN.format(backend=vendor.backend, patch=patch), TEST_DRIVER_SETUP=f"device 0 {vendor.arch}", **environment)


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
def test_the_binding_uses_the_override(vendor: Vendor, driver_paths: dict[str, Path], tmp_path: Path) -> None:
    assert opened(vendor, **{vendor.variable: driver_paths[vendor.backend]}).startswith("opened Test Device 0 (")
    # Also where the file has a name of its own: what counts is what it is.
    copy = tmp_path / "my-driver"
    copy.write_bytes(driver_paths[vendor.backend].read_bytes())
    assert opened(vendor, **{vendor.variable: copy}).startswith("opened Test Device 0 (")


def test_the_binding_looks_for_itself_again_afterwards(driver_paths: dict[str, Path]) -> None:
    """hiprtc and the rest of ROCm are not ours to place."""
    pytest.importorskip("rocm.bindings.hip")
    code = "from rocm.bindings.util import paths; own = paths.get_library_path\n" + dedent(OPEN.format(backend="hip", patch=""))
    code += "print(paths.get_library_path is own)"
    lines = fresh(code, TEST_DRIVER_SETUP="device 0 gfx90a", GOMPUTE_LIBHIP=driver_paths["hip"]).splitlines()
    assert lines[0].startswith("opened") and lines[1] == "True"


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
def test_the_binding_uses_nixos_drivers(vendor: Vendor, driver_paths: dict[str, Path]) -> None:
    patch = f"from gompute.runtime import libraries; libraries._NIXOS_DRIVERS = {str(driver_paths[vendor.backend].parent)!r}"
    assert opened(vendor, patch).startswith("opened Test Device 0 (")


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
def test_a_machine_without_a_driver(vendor: Vendor) -> None:
    names = {"cuda": f'cuda._SONAME = "{MISSING}"', "hip": f'hip._NAMES = ("{MISSING}",); hip._where_binding_looks = lambda paths: ()'}
    text = opened(vendor, names[vendor.backend])
    assert text.startswith(
        f"DriverMissing no {vendor.backend.upper()} driver on this machine; tried (set {vendor.variable} to name another"
    )
    assert f"/run/opengl-driver/lib/{MISSING}" in text


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
def test_a_driver_without_its_binding(vendor: Vendor, driver_paths: dict[str, Path]) -> None:
    module = {"cuda": "cuda.bindings", "hip": "rocm.bindings"}[vendor.backend]
    text = opened(vendor, f"import sys; sys.modules[{module!r}] = None", **{vendor.variable: driver_paths[vendor.backend]})
    assert text.startswith(f"BackendUnavailable {vendor.backend}: the ")
    assert text.endswith(f'pip install "gompute[{vendor.backend}]"')
    assert "but its Python binding is not" in text


def test_a_cuda_driver_of_another_soname(zig_cache: Path, tmp_path: Path) -> None:
    pytest.importorskip("cuda.bindings.driver")
    odd = library(tmp_path, "odd.so", zig_cache)
    text = fresh(OPEN.format(backend="cuda", patch=""), GOMPUTE_LIBCUDA=odd)
    assert text.startswith(f"InitFailed cuda: {odd} is not the libcuda.so.1 of this process")


def test_a_hip_runtime_that_the_binding_loaded_before(driver_paths: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("rocm.bindings.hip")
    # Its SONAME is another, so only the binding itself knows that it has loaded one.
    early = tmp_path / "lib" / "libamdhip64.so"
    early.parent.mkdir()
    early.write_bytes(driver_paths["hip"].read_bytes().replace(b"libamdhip64.so.7\0", b"libearlyhip64.so\0"))
    patch = f"import os; os.environ['ROCM_PATH'] = {str(tmp_path)!r}; from hip import hip as first; first.hipDriverGetVersion()"
    text = fresh(OPEN.format(backend="hip", patch=patch), GOMPUTE_LIBHIP=driver_paths["hip"])
    assert text.startswith("InitFailed hip: hip-python has already loaded a HIP runtime of its own choice, so GOMPUTE_LIBHIP=")


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        ("devices 0", "NoDevice {backend}: the {what} ({path}) finds no device: {init} gave"),
        ("fail {init} 3", "InitFailed {backend}: the {what} ({path}) does not start: {init} gave"),
        (
            "fail {init} 9876",
            "InitFailed {backend}: the {what} ({path}) does not start: {init} gave unknown (9876): an error that is newer",
        ),
    ],
)
def test_a_driver_that_does_not_start(vendor: Vendor, setup: str, expected: str, driver_paths: dict[str, Path]) -> None:
    pytest.importorskip({"cuda": "cuda.bindings.driver", "hip": "rocm.bindings.hip"}[vendor.backend])
    path = driver_paths[vendor.backend]
    what = {"cuda": "driver", "hip": "runtime"}[vendor.backend]
    text = fresh(OPEN.format(backend=vendor.backend, patch=""), TEST_DRIVER_SETUP=setup.format(init=vendor.init), **{vendor.variable: path})
    assert text.startswith(expected.format(backend=vendor.backend, what=what, path=path, init=vendor.init))

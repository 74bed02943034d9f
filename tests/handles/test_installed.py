"""Generated modules that are installed beside a program."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import gompute as g
from gompute.artifacts.destination import PackageFolder
from gompute.artifacts.kernel_set import KernelSet
from gompute.artifacts.merge import merge_sets
from gompute.errors import ArtifactError, InvalidArgument
from gompute.handles import defaults
from gompute.handles.defaults import default_set, register_kernels
from gompute.handles.installed import installed_kernels
from gompute.handles.kernel import Kernel
from tests.driver import sets
from tests.driver.kernels import negate, scale_relu

GENERATOR = {"gompute": "0.1.0"}


@pytest.fixture(autouse=True)
def _nothing_given(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(defaults, "_registry", defaults._Registry())
    monkeypatch.delenv("GOMPUTE_KERNELS", raising=False)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if "kernels" in name.partition(".")[0]:
            del sys.modules[name]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def built(tmp_path: Path, kernels_so: Path) -> Path:
    return sets.write(tmp_path / "set", kernels_so, ["sm_75", "gfx90a", sets.host_target()])


def install(site: Path, built: Path, module: str = "gompute_kernels") -> Path:
    return merge_sets([built], PackageFolder(site, module), generator=GENERATOR)[0]


def test_where_none_is_installed_there_is_an_empty_stand_in(site: Path) -> None:
    found = g.installed_kernels()
    assert (found.emitted, found.has_cuda, found.has_hip, found.has_cpu) == (False, False, False, False)
    assert (found.root_names, found.path) == ((), None)
    assert [dict(mapping) for mapping in (found.cuda_images, found.cuda_index, found.hip_images, found.hip_index)] == [{}] * 4
    assert repr(found) == "<no module gompute_kernels is installed>"
    assert default_set() is None


def test_an_installed_module_is_found_and_is_the_default(site: Path, built: Path) -> None:
    place = install(site, built)
    found = installed_kernels()
    assert found is sys.modules["gompute_kernels"]
    assert (found.emitted, found.has_cuda, found.has_hip, found.has_cpu) == (True, True, True, True)
    assert (found.root_names, found.path) == (("tests",), place)
    assert list(found.cuda_images) == ["sm_75"]
    assert found.cuda_index["sm_75"]["negate"].blob == found.cuda_images["sm_75"]["tests"]
    opened = default_set()
    assert opened is not None and opened.path == place
    data = np.arange(3, dtype=np.int32)
    with Kernel(negate, "cpu") as kernel:
        kernel.run(data)
        assert str(place) in repr(kernel)
    assert data.tolist() == [0, -1, -2]


def test_programs_with_modules_of_their_own_do_not_meet(site: Path, tmp_path: Path, kernels_so: Path) -> None:
    one = sets.write(tmp_path / "one", kernels_so, [sets.host_target()], (negate,))
    two = sets.write(tmp_path / "two", kernels_so, [sets.host_target()], (negate, scale_relu))
    install(site, one, "one_kernels")
    install(site, two, "two_kernels")
    first, second = installed_kernels("one_kernels"), installed_kernels("two_kernels")
    assert isinstance(first, ModuleType) and isinstance(second, ModuleType)
    assert (default_set(first), default_set(second)) == (default_set(site / "one_kernels"), default_set(site / "two_kernels"))
    for module, name in ((first, "one_kernels"), (second, "two_kernels")):
        with Kernel(negate, "cpu", kernels=module) as kernel:
            assert str(site / name) in repr(kernel)
    assert default_set() is None, "neither is anybody's default"
    assert not installed_kernels().emitted


def test_a_module_can_be_registered(site: Path, built: Path) -> None:
    install(site, built, "one_kernels")
    module = installed_kernels("one_kernels")
    assert isinstance(module, ModuleType)
    assert register_kernels(module).path == site / "one_kernels"
    with pytest.raises(ArtifactError, match=r"the installed module json \(.*json.*\) has no `path` of a kernel set"):
        import json

        default_set(json)


def test_a_module_inside_a_package(site: Path, built: Path) -> None:
    (site / "my_kernels").mkdir()
    (site / "my_kernels" / "__init__.py").touch()
    assert not installed_kernels("my_kernels.inner").emitted
    install(site / "my_kernels", built, "inner")
    assert installed_kernels("my_kernels.inner").root_names == ("tests",)
    assert not installed_kernels("no_kernels.inner").emitted


def test_a_kernel_set_of_that_name_in_the_current_folder_is_no_module(site: Path, kernels_so: Path) -> None:
    sets.write(site / "gompute_kernels", kernels_so, [sets.host_target()])
    assert default_set() is None
    assert not installed_kernels().emitted
    __import__("gompute_kernels")
    assert default_set() is None
    assert not installed_kernels().emitted


def test_a_module_that_cannot_be_imported_says_so(site: Path) -> None:
    (site / "gompute_kernels.py").write_text("import no_such_module_at_all")
    for attempt in (default_set, installed_kernels):
        with pytest.raises(
            ArtifactError, match=r"gompute_kernels \(.*gompute_kernels.py\) cannot be imported: ModuleNotFoundError: No mod"
        ):
            attempt()
    (site / "gompute_kernels.py").write_text("def")
    os.utime(site / "gompute_kernels.py", (1, 1))
    with pytest.raises(ArtifactError, match="cannot be imported: SyntaxError"):
        default_set()


def test_a_parent_that_cannot_be_imported_says_so(site: Path) -> None:
    (site / "my_kernels.py").write_text("1 / 0")
    with pytest.raises(ArtifactError, match=r"the installed module my_kernels.inner cannot be imported: ZeroDivisionError"):
        installed_kernels("my_kernels.inner")


def test_a_module_that_no_build_has_made_says_so(site: Path) -> None:
    (site / "gompute_kernels.py").write_text("")
    with pytest.raises(
        ArtifactError, match=r"the installed module gompute_kernels \(.*\) has no `emitted`: `gompute build --module` makes"
    ):
        installed_kernels()
    sys.modules["gompute_kernels"] = ModuleType("gompute_kernels")
    with pytest.raises(ArtifactError, match=r"the installed module gompute_kernels \(made in this process\) has no `path`"):
        default_set()


def test_a_blocked_module_is_none(site: Path, built: Path) -> None:
    install(site, built)
    sys.modules["gompute_kernels"] = None  # type: ignore[assignment]
    assert default_set() is None


def test_a_module_whose_set_is_damaged_says_so(site: Path, built: Path) -> None:
    place = install(site, built)
    (place / "index.json").write_text("{")
    assert installed_kernels().emitted
    for attempt in (default_set, lambda: installed_kernels().cuda_images):
        with pytest.raises(ArtifactError, match="not valid JSON"):
            attempt()
    with pytest.raises(ArtifactError):
        KernelSet.open(place)


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a b", "a-b", 3, None])
def test_what_names_no_module(name: object) -> None:
    with pytest.raises(InvalidArgument, match="module: expected the name of a Python module, got"):
        installed_kernels(name)  # type: ignore[arg-type]

"""Which kernel set a handle uses when it is given none."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gompute.artifacts import kernel_set as artifacts
from gompute.errors import ArtifactError, InvalidArgument, KernelNotFound
from gompute.handles import defaults
from gompute.handles.defaults import default_set, register_kernels
from gompute.handles.kernel import Kernel
from gompute.handles.kernel_set import KernelSet, load
from tests.driver import sets
from tests.driver.kernels import negate


@pytest.fixture(autouse=True)
def _nothing_given(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(defaults, "_registry", defaults._Registry())
    monkeypatch.delenv("GOMPUTE_KERNELS", raising=False)
    yield
    sys.modules.pop("gompute_kernels", None)


@pytest.fixture
def others(tmp_path: Path, kernels_so: Path) -> list[Path]:
    return [sets.write(tmp_path / f"set{number}", kernels_so, [sets.host_target()]) for number in range(4)]


def module(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))


def test_the_order(others: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_set() is None
    module(tmp_path, "gompute_kernels", f"path = {str(others[3])!r}", monkeypatch)
    found = default_set()
    assert found is not None and found.path == others[3]
    monkeypatch.setenv("GOMPUTE_KERNELS", str(others[2]))
    found = default_set()
    assert found is not None and found.path == others[2]
    register_kernels(others[1])
    found = default_set()
    assert found is not None and found.path == others[1]
    found = default_set(others[0])
    assert found is not None and found.path == others[0]


def test_a_handle_uses_the_default(others: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOMPUTE_KERNELS", str(others[0]))
    data = np.arange(3, dtype=np.int32)
    with Kernel(negate, "cpu") as kernel:
        kernel.run(data)
        assert str(others[0]) in repr(kernel)
    assert data.tolist() == [0, -1, -2]


def test_a_second_default_is_an_error(others: list[Path]) -> None:
    first = register_kernels(others[0])
    assert isinstance(first, KernelSet)
    assert register_kernels(load(others[0])) is first, "the same set again is no second one"
    with pytest.raises(InvalidArgument, match=f"kernels: {others[0]} is this process's default kernel set already; {others[1]} cannot be"):
        register_kernels(others[1])
    found = default_set()
    assert found is first


def test_what_is_no_set(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"kernels: expected a kernel set \(from g.load\) or the path of one, got int"):
        default_set(3)  # type: ignore[arg-type]
    with pytest.raises(ArtifactError, match="no kernel set here"):
        default_set(tmp_path / "nothing")
    with pytest.raises(ArtifactError, match="no kernel set here"):
        register_kernels(tmp_path)


def test_a_wrong_folder_in_the_environment_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOMPUTE_KERNELS", str(tmp_path / "nothing"))
    with pytest.raises(ArtifactError, match="GOMPUTE_KERNELS: .*nothing: no kernel set here"):
        default_set()
    monkeypatch.setenv("GOMPUTE_KERNELS", "")
    assert default_set() is None


def test_a_plain_artifact_set_will_do(others: list[Path]) -> None:
    found = default_set(artifacts.KernelSet.open(others[0]))  # type: ignore[arg-type]
    assert isinstance(found, KernelSet) and found.path == others[0]


def test_an_installed_module_without_a_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module(tmp_path, "gompute_kernels", "emitted = False", monkeypatch)
    with pytest.raises(ArtifactError, match=r"the installed module gompute_kernels \(.*\) has no `path` of a kernel set"):
        default_set()


def test_no_set_says_how_to_give_one() -> None:
    for backend in ("cuda", "hip"):
        with pytest.raises(
            KernelNotFound, match=r"kernel 'negate': no kernel set to look in: pass kernels=g.load\(FOLDER\), .*GOMPUTE_KERNELS"
        ):
            Kernel(negate, backend)


def test_a_folder_is_opened_once_until_it_is_built_again(others: list[Path], tmp_path: Path, kernels_so: Path) -> None:
    first = default_set(others[0])
    assert default_set(str(others[0])) is first
    assert default_set(os.path.relpath(others[0])) is first
    sets.write(others[0], kernels_so, [sets.host_target()], (negate,))
    again = default_set(others[0])
    assert again is not first and again is not None
    assert again.kernels == ("negate",)

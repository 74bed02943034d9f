"""Builds with checks: what a failing work-item reports, on every backend and in code of every mode that has checks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gompute as g
from gompute.artifacts.kernel_set import KernelSet
from gompute.lang.tiled import Tiled
from gompute.runtime import cpu
from gompute.targets.cpu import cpu_targets
from tests.checked import kernels
from tests.checked.cases import SOURCE, Failing, cases, place_of
from tests.driver.control import Driver
from tests.ptx.device import interpreted

CASES = cases()
IDS = [f"{number}-{case.kernel}" for number, case in enumerate(CASES)]
MODES = ("safe", "debug")


def _spec(name: str) -> Any:
    return getattr(kernels, name)


def _host_target() -> str:
    device = cpu.Context().device
    return cpu_targets(device.arch, device.flags)[0].name


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, KernelSet]:
    """The kernels in every mode with checks."""
    made: dict[str, KernelSet] = {}
    for mode in MODES:
        out = tmp_path_factory.mktemp("checked") / mode
        words = [f"--optimize={backend}={mode}" for backend in ("cuda", "hip", "cpu")]
        words += [f"--target={target}" for target in ("sm_75", "gfx90a", _host_target())]
        command = [sys.executable, "-m", "gompute", "build", str(SOURCE), *words, "-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        made[mode] = g.load(out)
    return made


@pytest.fixture(params=MODES)
def checked(request: pytest.FixtureRequest, sets: dict[str, KernelSet]) -> KernelSet:
    return sets[request.param]


@pytest.fixture(params=["cpu", "cuda", "hip"])
def backend(request: pytest.FixtureRequest, checked: KernelSet) -> str:
    """A backend; launches on the GPUs' test drivers run the CPU build of the same kernels."""
    if request.param != "cpu":
        driver: Driver = request.getfixturevalue({"cuda": "nvidia", "hip": "amd"}[request.param])
        driver.reset(next(checked.path.glob("*.so")))
    return str(request.param)


def _launch(handle: Any, case: Failing, arguments: tuple[Any, ...]) -> None:
    """On memory of the device, and wait."""
    context = handle._opened.context
    given, buffers = [], []
    for value in arguments:
        if isinstance(value, np.ndarray):
            buffers.append(context.alloc(value.nbytes))
            buffers[-1].upload(value)
            given.append(buffers[-1] if value.ndim == 1 and case.kernel != "added" else (buffers[-1], value.shape))
        else:
            given.append(value)
    try:
        if case.grid is None:
            if isinstance(_spec(case.kernel).operation, Tiled) and _spec(case.kernel).kind != "scan":
                buffers.append(context.alloc(4))
                given.insert(1, buffers[-1])
            handle.launch(*given)
        else:
            handle.launch(case.grid, case.block, *given)
        handle.synchronize()
    finally:
        for buffer in buffers:
            buffer.free()


def _open(case: Failing, backend: str, kernels: KernelSet) -> Any:
    return (g.Kernel if case.grid is None else g.RawKernel)(_spec(case.kernel), backend, kernels=kernels)


def _hold(caught: g.CheckFailed, case: Failing, where: str) -> None:
    item = "" if case.item is None else f", work-item {case.item}"
    assert str(caught).startswith(f"{case.place}: kernel {case.kernel!r} on {where}{item}")
    assert str(caught).endswith(case.says)
    assert (caught.kernel, f"{caught.file}:{caught.line}", caught.check) == (case.kernel, case.place, case.check)
    assert case.value is None or caught.value == case.value
    assert (caught.code, isinstance(caught, g.Error)) == (None, True)


# Checks are numbered in the order of the code. Where work-items wait, the order in the CPU build, which the test drivers run, is not that
# of the name table for the GPU: `test_ptx_reports_the_same` runs the code that the table goes with.
ALIKE = [case for case in CASES if case.kernel != "waited"]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_check_that_fails_names_kernel_file_line_and_value(case: Failing, checked: KernelSet) -> None:
    _fail_and_go_on(case, "cpu", checked)


@pytest.mark.parametrize("case", ALIKE, ids=[case.kernel for case in ALIKE])
def test_drivers_bring_the_report(case: Failing, gpu: Driver, sets: dict[str, KernelSet]) -> None:
    gpu.reset(next(sets["safe"].path.glob("*.so")))
    _fail_and_go_on(case, gpu.vendor.backend, sets["safe"])


def _fail_and_go_on(case: Failing, backend: str, checked: KernelSet) -> None:
    with _open(case, backend, checked) as handle:
        for _ in range(2):  # a report is taken once, and there is room for the next
            with pytest.raises(g.CheckFailed) as caught:
                _launch(handle, case, case.wrong)
            _hold(caught.value, case, f"{backend} 0")
            _launch(handle, case, case.right)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_ptx_reports_the_same(case: Failing, checked: KernelSet, nvidia: Driver) -> None:
    with interpreted(nvidia, "7.5") as device, _open(case, "cuda", checked) as handle:
        with pytest.raises(g.CheckFailed) as caught:
            _launch(handle, case, case.wrong)
        _hold(caught.value, case, "cuda 0")
        _launch(handle, case, case.right)
        assert device.fault is None


def _masks(count: int) -> list[int]:
    """Every check alone, and each with one and with all that come after it."""
    alone = [1 << bit for bit in range(count)]
    return [*alone, *(one | one << 1 for one in alone[:-1]), *((1 << count) - one for one in alone[:-1])]


def _first(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _by_bits(handle: Any, bits: int) -> tuple[g.CheckFailed | None, list[int]]:
    """What a launch of one work-item reports, and what it leaves in memory."""
    found = np.zeros(5, np.uint32)
    with handle.alloc(found.nbytes) as buffer:
        buffer.upload(found)
        try:
            handle.launch(1, 1, buffer, bits)
            handle.synchronize()
            failure = None
        except g.CheckFailed as raised:
            failure = raised
        buffer.download(found)
    return failure, found.tolist()


@pytest.fixture(params=["cpu", "cuda"])
def real(request: pytest.FixtureRequest) -> Iterator[str]:
    """A backend whose own code runs here."""
    if request.param == "cpu":
        yield "cpu"
        return
    with interpreted(request.getfixturevalue("nvidia"), "7.5"):
        yield "cuda"


def test_of_several_checks_the_first_reports(checked: KernelSet, real: str) -> None:
    with g.RawKernel(kernels.straight, real, kernels=checked) as kernel:
        for mask in _masks(11):
            failure, found = _by_bits(kernel, mask)
            assert failure is not None, bin(mask)
            assert f"{failure.file}:{failure.line}" == place_of(f"straight {_first(mask)}"), bin(mask)
            assert found == [0] * 5
        assert _by_bits(kernel, 0) == (None, [699 + 0 + 1 + 1 + 8, 0, 0, 0, 0])


def test_memory_holds_what_came_before_the_check_and_nothing_after(checked: KernelSet, real: str) -> None:
    written = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 5, 0, 0], [1, 1, 5, 5, 0]]
    with g.RawKernel(kernels.stored, real, kernels=checked) as kernel:
        for mask in _masks(4):
            failure, found = _by_bits(kernel, mask)
            assert failure is not None, bin(mask)
            assert f"{failure.file}:{failure.line}" == place_of(f"stored {_first(mask)}"), bin(mask)
            assert found == written[_first(mask)]
        assert _by_bits(kernel, 0) == (None, [1, 1, 5, 5, 1])


def test_run_reports_what_its_launch_found(backend: str, sets: dict[str, KernelSet], checked: KernelSet) -> None:
    with g.Kernel(kernels.divided, backend, kernels=checked) as kernel:
        data = np.array([1, 0, 5], np.int32)
        with pytest.raises(g.CheckFailed, match=r"work-item 1: integer division by zero: 1000 // 0$"):
            kernel.run(data)
        kernel.run(data := np.array([1, 2, 5], np.int32))
    assert data.tolist() == [1001, 501, 201]


def test_a_launch_does_not_wait_and_every_wait_finds_the_report(gpu: Driver, sets: dict[str, KernelSet]) -> None:
    gpu.reset(next(sets["safe"].path.glob("*.so")))
    backend = gpu.vendor.backend
    with g.Kernel(kernels.divided, backend, kernels=sets["safe"]) as kernel:
        context = kernel._opened.context
        stream, event = context.create_stream(non_blocking=True), context.create_event()
        with kernel.alloc(4) as buffer:
            for wait in (
                context.synchronize,
                stream.synchronize,
                lambda: buffer.download(np.empty(4, np.int32)),
                lambda: (event.record(stream), event.synchronize()),
            ):
                buffer.upload(np.zeros(4, np.int32))
                kernel.launch(buffer, stream=stream)
                context.accelerator.driver.synchronize_stream(stream.lane_on(context.accelerator).handle)
                with pytest.raises(g.CheckFailed, match="division by zero"):
                    wait()
                context.synchronize()
        stream.close()
        event.close()


def test_a_graph_reports_each_time_it_runs(backend: str, checked: KernelSet) -> None:
    with g.Kernel(kernels.divided, backend, kernels=checked) as kernel:
        context = kernel._opened.context
        with kernel.alloc(4) as buffer, context.create_stream() as stream:
            buffer.upload(np.zeros(4, np.int32))
            stream.begin_capture()
            kernel.launch(buffer, stream=stream)
            with stream.end_capture().instantiate() as graph:
                for _ in range(2):
                    with pytest.raises(g.CheckFailed, match="division by zero"):
                        graph.launch(stream)
                        stream.synchronize()


def test_where_every_launch_is_checked_the_launch_itself_reports(gpu: Driver, sets: dict[str, KernelSet]) -> None:
    gpu.reset(next(sets["safe"].path.glob("*.so")))
    with g.Kernel(kernels.divided, gpu.vendor.backend, kernels=sets["safe"]) as kernel, kernel.alloc(4) as buffer:
        accelerator = kernel._opened.context.accelerator
        buffer.upload(np.zeros(4, np.int32))
        accelerator.checked = True
        try:
            with pytest.raises(g.CheckFailed, match="division by zero"):
                kernel.launch(buffer)
        finally:
            accelerator.checked = False


def test_two_kernels_report_together(gpu: Driver, sets: dict[str, KernelSet]) -> None:
    gpu.reset(next(sets["safe"].path.glob("*.so")))
    backend, checked = gpu.vendor.backend, sets["safe"]
    with g.Kernel(kernels.divided, backend, kernels=checked) as one, g.Kernel(kernels.positive, backend, kernels=checked) as other:
        with one.alloc(4) as buffer:
            buffer.upload(np.zeros(4, np.int32))
            one.launch(buffer)
            other.launch(buffer)
            with pytest.raises(g.CheckFailed, match="kernel 'divided'") as caught:
                one.synchronize()
    assert [note for note in caught.value.__notes__ if "kernel 'positive'" in note and note.startswith("and: ")]


def test_the_name_table_says_what_a_launch_passes_and_what_is_checked(checked: KernelSet) -> None:
    entry = checked.entry("rows")
    assert [argument.name for argument in entry.passed[len(entry.arguments) :]] == ["gompute.report"]
    assert entry.checks is not None
    assert {(check.kind, check.what) for check in entry.checks} == {("index", "dimension 0 of a"), ("index", "dimension 1 of a")}
    assert {check.file for check in entry.checks} == {"kernels.py"}


def test_a_fast_build_checks_nothing_and_takes_no_more(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gompute", "build", str(SOURCE), "-t", _host_target(), "-o", str(tmp_path / "set")]
    assert subprocess.run(command, check=False).returncode == 0
    fast = g.load(tmp_path / "set")
    assert all(unit.kernels[name].checks is None for unit in fast.index.units for name in unit.kernels)
    with g.Kernel(kernels.divided, "cpu", kernels=fast) as kernel:
        kernel.run(data := np.array([0, 4], np.int32))
    assert data.tolist() == [1, 251]  # the language's own answer

"""`gompute doctor`: what it finds, on machines that the test drivers play."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Done
from tests.driver import sets
from tests.driver.build import compile_shared

Cli = Callable[..., Done]


@pytest.fixture(autouse=True)
def _no_default_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOMPUTE_KERNELS", raising=False)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, driver_paths: dict[str, Path]) -> Callable[..., None]:
    """Puts drivers into the machine, and what they shall be."""

    def put(setup: str, *backends: str) -> None:
        variables = {"cuda": "GOMPUTE_LIBCUDA", "hip": "GOMPUTE_LIBHIP"}
        for backend in backends:
            pytest.importorskip({"cuda": "cuda.bindings.driver", "hip": "rocm.bindings.hip"}[backend])
            monkeypatch.setenv(variables[backend], str(driver_paths[backend]))
        monkeypatch.setenv("TEST_DRIVER_SETUP", setup)

    return put


def found(done: Done) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    document = json.loads(done.out)
    return document, {backend["backend"]: backend for backend in document["backends"]}


def test_a_machine_without_a_gpu_is_no_fault(cli: Cli, set_path: Path) -> None:
    done = cli("doctor", set_path)
    assert (done.code, done.err) == (0, "")
    assert "no CUDA driver on this machine; tried (set GOMPUTE_LIBCUDA to name another place):" in done.out
    assert "no HIP driver on this machine" in done.out
    assert f"    root tests: {sets.host_target()} so\n" in done.out
    assert f"kernel set: {set_path}, from the argument\n" in done.out
    assert "compiler: llvmlite 0.50.0, ziglang " in done.out


def test_each_device_with_what_it_would_use_and_why_not_the_rest(
    cli: Cli, machine: Callable[..., None], kernels_so: Path, tmp_path: Path
) -> None:
    folder = sets.write(tmp_path / "set", kernels_so, ["sm_75", "sm_80", "sm_100", "gfx90a:xnack-", "gfx1100", sets.host_target()])
    machine("device 0 8.6;device 1 7.0", "cuda")
    done = cli("doctor", folder)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("  device 0: Test Device 0 (sm_86)"))
    assert lines[start].endswith("; 8.6 GB of memory, 8.6 GB free; driver of CUDA 13.0, PTX up to 9.0")
    assert lines[start + 1 : start + 4] == [
        "    root tests: sm_80 ptx",
        "      not sm_75 ptx: runs too, and sm_80 ptx is the better choice",
        "      not sm_100 ptx: needs 10.0 or newer, the device is 8.6",
    ]
    assert lines[start + 4].startswith("  device 1: Test Device 1 (sm_70)")
    assert lines[start + 5 : start + 10] == [
        "    root tests: no code for this device",
        "      not sm_75 ptx: needs 7.5 or newer, the device is 7.0",
        "      not sm_80 ptx: needs 8.0 or newer, the device is 7.0",
        "      not sm_100 ptx: needs 10.0 or newer, the device is 7.0",
        '      add the target to the build: --target sm_70, or in pyproject.toml: [tool.gompute] targets = [..., "sm_70"]',
    ]
    machine("device 0 gfx90a:sramecc+:xnack-;version 60241134", "hip")
    document, backends = found(cli("doctor", folder, "--json"))
    assert document["ok"] and document["set"] == str(folder) and document["nowhere"] == []
    (device,) = backends["hip"]["devices"]
    assert (device["arch"], device["driver"], device["max_code_object"]) == ("gfx90a", [6, 2], 5)
    assert device["choices"] == [
        {
            "root": "tests",
            "used": "gfx90a:xnack- hsaco",
            "others": [["gfx1100 hsaco", "runs on gfx1100 alone; the device is gfx90a"]],
            "fix": None,
        }
    ]
    assert backends["hip"]["libraries"] and backends["hip"]["binding"].startswith("hip-python ")


def test_an_old_driver(cli: Cli, machine: Callable[..., None], set_path: Path) -> None:
    machine("device 0 8.6;version 10000", "cuda")
    document, backends = found(cli("doctor", set_path, "--json"))
    (device,) = backends["cuda"]["devices"]
    assert device["driver"] == [10, 0] and device["max_ptx"] == [6, 3] and document["ok"]
    machine("device 0 8.6;version 9000", "cuda")
    _, backends = found(cli("doctor", set_path, "--json"))
    (choice,) = backends["cuda"]["devices"][0]["choices"]
    assert choice["used"] is None and "the driver (CUDA 9.0) takes" in choice["others"][0][1]


def test_drivers_that_do_not_work(cli: Cli, machine: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine("device 0 8.6;fail cuInit 803", "cuda")
    done = cli("doctor")
    assert done.code == 1 and "does not start: cuInit gave CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)" in done.out
    machine("device 0 8.6;device 1 8.6;fail cuDevicePrimaryCtxRetain 2", "cuda")
    document, backends = found(cli("doctor", "--json"))
    assert not document["ok"] and backends["cuda"]["problem"] is None
    assert all("cannot make a context on device" in device["problem"] for device in backends["cuda"]["devices"])
    machine("devices 0", "cuda")
    document, backends = found(cli("doctor", "--json"))
    assert document["ok"] and backends["cuda"]["missing"] and "finds no device" in backends["cuda"]["problem"]
    no_library = tmp_path / "libcuda.so.1"
    no_library.write_text("no library")
    monkeypatch.setenv("GOMPUTE_LIBCUDA", str(no_library))
    done = cli("doctor")
    assert done.code == 1 and f"GOMPUTE_LIBCUDA={no_library} cannot be loaded as the CUDA driver" in done.out


def test_a_driver_that_ends_the_process(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, zig_cache: Path) -> None:
    source = tmp_path / "broken.c"
    source.write_text("__attribute__((constructor)) static void crash(void) { __builtin_trap(); }\n")
    library = compile_shared([source], tmp_path / "libamdhip64.so", zig_cache)
    monkeypatch.setenv("GOMPUTE_LIBHIP", str(library))
    done = cli("doctor")
    assert done.code == 1
    assert "hip: the driver ended the process that asked it, by SIG" in done.out
    assert "cpu:\n  device 0: " in done.out


def test_a_driver_without_its_binding(cli: Cli, machine: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine("device 0 8.6", "cuda")
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    done = cli("doctor")
    assert done.code == 1 and 'pip install "gompute[cuda]"' in done.out


def test_which_set(cli: Cli, set_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = cli("doctor")
    assert done.code == 0 and "kernel set: none; name a folder, set GOMPUTE_KERNELS" in done.out
    monkeypatch.setenv("GOMPUTE_KERNELS", str(set_path))
    assert f"kernel set: {set_path}, from GOMPUTE_KERNELS" in cli("doctor").out
    done = cli("doctor", tmp_path)
    assert done.code == 1 and "no kernel set here (no index.json in it)" in done.out
    assert cli("doctor", tmp_path, tmp_path).code == 2


def test_a_root_that_nothing_here_can_run(cli: Cli, kernels_so: Path, tmp_path: Path) -> None:
    done = cli("doctor", sets.write(tmp_path / "set", kernels_so, ["sm_75"]))
    assert done.code == 1 and done.out.endswith("nothing here can run root tests\n")

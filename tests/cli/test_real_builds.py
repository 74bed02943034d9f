"""`gompute build` as a whole process, with the real compiler."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent

import pytest

from gompute.artifacts.kernel_set import KernelSet
from tests.processes import LIMIT, gone, pid_in, wait_for

REPOSITORY = Path(__file__).parents[2]
WORKERS = REPOSITORY / "tests" / "build" / "workers"

SCALE = """
import gompute as g
from gompute import f32

@g.params
class Params:
    scale: f32

@g.map(name="{name}")
def scale_relu(x: f32, p: Params) -> f32:
    y = x * p.scale
    return y if y > 0 else 0.0
"""


_STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def _nothing_left_at_work() -> Iterator[None]:
    """End what a failed test left, so that it fails alone and not another test by its open pipes."""
    yield
    while _STARTED:
        with _STARTED.pop() as process:
            process.kill()


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """A shell starts what runs in its background with SIGINT ignored, and the processes of these tests would inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _environment(**more: str) -> dict[str, str]:
    packages = os.pathsep.join(str(Path(entry)) for entry in sys.path if entry)
    return {
        "PYTHONPATH": os.pathsep.join((str(REPOSITORY), packages)),
        "PATH": os.defpath,
        "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"],
    } | more


def _gompute(*arguments: object, cwd: Path, worker: str | None = None, before: str = "", **more: str) -> subprocess.Popen[str]:
    """Start the command line; `worker` replaces the compiler's worker, `before` is run in its process first."""
    driver = [sys.executable, "-m", "gompute"]
    if worker or before:
        command = f"ZygoteCommand({worker or 'gompute.build.worker'!r}, (Path({str(WORKERS)!r}),))"
        text = f"""
            import sys
            from pathlib import Path
            from gompute.build.zygote import Zygote, ZygoteCommand
            from gompute.cli.app import run
            {before}
            sys.exit(run(sys.argv[1:], Zygote.start({command})))
            """
        driver = [sys.executable, "-c", dedent(text)]
    words = [str(argument) for argument in arguments]
    _STARTED.append(
        subprocess.Popen([*driver, *words], cwd=cwd, env=_environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    )
    return _STARTED[-1]


def _finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    source = tmp_path / "scale.py"
    source.write_text(SCALE.format(name="scale_relu"))
    return source


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def _left_over(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if "staging" in name)


def test_a_build_leaves_a_set_that_loads_and_nothing_else(scale: Path, tmp_path: Path) -> None:
    code, out, err = _finish(_gompute("build", scale, "-t", "sm_89", "-t", "x86-64-v3", "-o", "out", "--no-cache", cwd=tmp_path))
    assert code == 0, err
    assert out.startswith("out: 1 kernel, 2 blobs, ")
    assert sorted(os.listdir(tmp_path)) == ["out", "scale.py"]
    kernels = KernelSet.open(tmp_path / "out")
    assert kernels.kernels == ("scale_relu",)
    assert b".target sm_89" in kernels.blob("scale", kernels.targets[0], "ptx")


def test_an_abort_inside_llvm_is_reported_and_the_other_roots_are_built(scale: Path, tmp_path: Path) -> None:
    aliased = tmp_path / "aliased.py"
    aliased.write_text(SCALE.format(name="doomed"))
    process = _gompute("build", scale, aliased, "-t", "sm_89", "-o", "out", cwd=tmp_path, worker="unverified_worker")
    code, _, err = _finish(process)
    assert code == 1
    assert "error: kernel doomed, root aliased, target sm_89: LLVM gave up and its process was ended by signal 6 (SIGABRT)" in err
    assert "LLVM ERROR:" in err
    assert "alias" in err.partition("LLVM ERROR:")[2].splitlines()[0].lower()
    assert KernelSet.open(tmp_path / "out").roots == ("scale",)
    assert sorted(os.listdir(tmp_path)) == ["aliased.py", "out", "scale.py"]  # and no core file


@pytest.mark.parametrize(
    "difference",
    [
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "HOME": "/nowhere", "LC_ALL": "C", "USER": "somebody"},
        {"PYTHONHASHSEED": "77", "PYTHONOPTIMIZE": "2", "GOMPUTE_KERNELS": "/nowhere", "LD_BIND_NOW": "1"},
    ],
)
def test_folder_environment_and_number_of_jobs_change_no_byte(scale: Path, tmp_path: Path, difference: dict[str, str]) -> None:
    other = tmp_path / "an other" / "place"
    other.mkdir(parents=True)
    (other / "scale.py").write_text(scale.read_text())
    targets = ("sm_90", "gfx1030", "x86-64-v3")
    forward = [word for target in targets for word in ("-t", target)]
    backward = [word for target in reversed(targets) for word in ("-t", target)]
    one = _gompute("build", scale, *forward, "-o", "out", "-j", 1, "--emit", "ptx,ir,asm", cwd=tmp_path)
    two = _gompute("build", "scale.py", *backward, "-o", "out", "-j", 3, "--emit", "asm,ir", cwd=other, **difference)
    for build in (one, two):
        code, _, err = _finish(build)
        assert code == 0, err
    here, there = _contents(tmp_path / "out"), _contents(other / "out")
    assert sorted(here) == sorted(there)
    assert [name for name in here if here[name] != there[name]] == []
    assert len(here) == 1 + 3 * 3


def _wait_until_clean(folder: Path) -> None:
    until = time.monotonic() + LIMIT
    while _left_over(folder):
        assert time.monotonic() < until, _left_over(folder)
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_a_build_stopped_at_work_leaves_no_process_and_the_old_set(tmp_path: Path, how: signal.Signals) -> None:
    hanging = tmp_path / "hanging.py"
    hanging.write_text("# compile\n")
    assert _finish(_gompute("build", hanging, "-t", "sm_89", "-o", "out", cwd=tmp_path, worker="scripted_worker"))[0] == 0
    before = _contents(tmp_path / "out")
    hanging.write_text("# hang\n")
    process = _gompute("build", hanging, "-t", "sm_89", "-o", "out", cwd=tmp_path, worker="scripted_worker")
    worker = pid_in(tmp_path / "hanging.pid")
    process.send_signal(how)
    code, _, err = _finish(process)
    assert code == (130 if how == signal.SIGINT else -how)
    assert "Traceback" not in err
    assert gone(worker)
    assert _contents(tmp_path / "out") == before
    assert sorted(os.listdir(tmp_path)) == ["hanging.pid", "hanging.py", "out"]


HANG_BEFORE_THE_EXCHANGE = (
    "import time; from gompute.artifacts import staging; staging._exchange = lambda *_: (Path('ready').touch(), time.sleep(60))"
)


def test_a_build_killed_while_it_writes_leaves_the_old_set_and_no_staging(scale: Path, tmp_path: Path) -> None:
    arguments = ("build", scale, "-t", "sm_89", "-o", "out")
    assert _finish(_gompute(*arguments, cwd=tmp_path))[0] == 0
    before = _contents(tmp_path / "out")
    scale.write_text(SCALE.format(name="another_name"))
    process = _gompute(*arguments, cwd=tmp_path, before=HANG_BEFORE_THE_EXCHANGE)
    wait_for(tmp_path / "ready")
    assert len(_left_over(tmp_path)) == 1
    process.kill()
    _finish(process)
    _wait_until_clean(tmp_path)
    assert _contents(tmp_path / "out") == before


def test_a_disk_that_fills_up_leaves_the_old_set_and_says_so(scale: Path, tmp_path: Path) -> None:
    arguments = ("build", scale, "-t", "sm_89", "-o", "out")
    assert _finish(_gompute(*arguments, cwd=tmp_path))[0] == 0
    before = _contents(tmp_path / "out")
    scale.write_text(SCALE.format(name="another_name"))
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))"
    code, _, err = _finish(_gompute(*arguments, cwd=tmp_path, before=limit, PYTHONDONTWRITEBYTECODE="1"))
    assert code == 1
    assert "error: out: could not write the kernel set: File too large" in err
    assert _contents(tmp_path / "out") == before
    assert _left_over(tmp_path) == []


def test_a_build_calls_no_probe_and_needs_no_environment(scale: Path, tmp_path: Path) -> None:
    probes = tmp_path / "probes"
    probes.mkdir()
    for name in (
        "nvidia-smi",
        "rocminfo",
        "amdgpu-arch",
        "nvptx-arch",
        "offload-arch",
        "rocm_agent_enumerator",
        "cc",
        "gcc",
        "clang",
        "ld",
        "uname",
    ):
        probe = probes / name
        probe.write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/called\necho sm_Failed\n")
        probe.chmod(0o755)
    targets = [word for target in ("sm_89", "gfx942", "x86-64-v3") for word in ("-t", target)]
    code, _, err = _finish(_gompute("build", scale, *targets, "-o", "out", cwd=tmp_path, PATH=str(probes)))
    assert code == 0, err
    assert not (tmp_path / "called").exists()
    path = _environment()["PYTHONPATH"]
    code, _, err = _finish(
        subprocess.Popen(
            ["/usr/bin/env", "-i", f"PYTHONPATH={path}", sys.executable, "-m", "gompute", "build", str(scale), *targets, "-o", "bare"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    )
    assert code == 0, err
    assert _contents(tmp_path / "bare") == _contents(tmp_path / "out")


def test_faults_are_shown_with_the_path_that_the_user_typed(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    source = tmp_path / "src" / "wrong.py"
    source.write_text(SCALE.format(name="k").replace("x * p.scale", "x * p.scala"))
    for command in (["build", "src/wrong.py", "-t", "sm_89", "-o", "out"], ["check", "src/wrong.py"]):
        code, _, err = _finish(_gompute(*command, cwd=tmp_path))
        assert code == 1
        assert err.count("src/wrong.py:11:") == 1
        assert "p.scala" in err
        assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_check_finds_kernels_without_generating_code(scale: Path, tmp_path: Path) -> None:
    code, out, err = _finish(_gompute("check", scale, "--json", cwd=tmp_path))
    assert code == 0, err
    assert json.loads(out) == {"complete": True, "failed": [], "kernels": ["scale_relu"], "targets": ["gfx942", "sm_75", "x86-64-v3"]}
    assert sorted(os.listdir(tmp_path)) == ["scale.py"]


def _as_terminal(arguments: Sequence[str], cwd: Path) -> tuple[int, str]:
    """Run the command line with a terminal for its standard error; gives the exit code and what the terminal got."""
    leader, follower = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gompute", *arguments], cwd=cwd, env=_environment(TERM="xterm"), stdout=subprocess.DEVNULL, stderr=follower
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
    os.close(leader)
    return process.wait(timeout=60), seen.decode()


def test_a_terminal_gets_a_live_view_and_a_log_plain_lines(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"root_{number}.py").write_text(SCALE.format(name=f"kernel_{number}"))
    arguments = ["build", *(f"root_{number}.py" for number in range(6)), "-t", "sm_89", "-t", "sm_90", "-o", "out", "-j", "1"]
    code, seen = _as_terminal(arguments, tmp_path)
    assert code == 0, seen
    assert "\x1b[" in seen
    assert "/12" in seen
    assert seen.count(" for sm_89: ptx ") >= 6
    code, _, err = _finish(_gompute(*arguments, cwd=tmp_path))
    assert code == 0, err
    assert "\x1b" not in err
    assert len(err.splitlines()) == 12

"""The README's examples do what the README says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import gompute as g
from gompute.lang import operations, reductions
from gompute.lang.operation import OPERATIONS

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """What stands under a heading, up to the next one."""
    (found,) = re.findall(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ )", README, re.MULTILINE | re.DOTALL)
    return str(found)


def blocks(title: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", section(title), re.MULTILINE | re.DOTALL)


def run(folder: Path, *command: str) -> str:
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build_the_example(folder: Path) -> str:
    """The first example's kernels, compiled; gives its program."""
    module, program = blocks("An example", "python")
    (build,) = blocks("An example", "sh")
    (folder / "kernels.py").write_text(module)
    run(folder, "-m", *build.split())
    return program


def test_the_example(tmp_path: Path) -> None:
    program = build_the_example(tmp_path)
    (at_once,) = re.findall(r"`gompute (run [^`]*)`", README)
    printed = run(tmp_path, "-c", program).splitlines()
    for line, said in zip(printed, re.findall(r"print\(.*#.*: (.+)$", program, re.MULTILINE), strict=True):
        assert line.split()[-3:] == said.split()[-3:]  # the backend is that of this machine

    np.save(tmp_path / "in.npy", np.array([-1.0, 0.5, 2.0], np.float32))
    run(tmp_path, "-m", "gompute", *at_once.split())
    assert np.load(tmp_path / "out.npy").tolist() == [0.0, 1.5, 6.0]


def test_the_example_of_a_block(tmp_path: Path) -> None:
    module, program = blocks("Kernels of blocks", "python")
    (build,) = re.findall(r"`gompute (build histogram.py [^`]*)`", README)
    (tmp_path / "histogram.py").write_text(module)
    run(tmp_path, "-m", "gompute", *build.split())
    (said,) = re.findall(r"print\(.*# (.+)$", program, re.MULTILINE)
    assert run(tmp_path, "-c", program).split() == said.split()


def test_the_example_of_streams(tmp_path: Path) -> None:
    build_the_example(tmp_path)
    (program,) = blocks("Streams, events and graphs", "python")
    (said,) = re.findall(r"print\(.*# always: (.+)$", program, re.MULTILINE)
    assert run(tmp_path, "-c", program).strip() == said


def test_the_table_of_operations_is_that_of_the_code() -> None:
    (table,) = re.findall(r"^\| operation \|.*?\n\n", README, re.MULTILINE | re.DOTALL)
    named = {name for row in table.strip().splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    declared = {name for module in (operations, reductions) for name in module.__all__ if name in g.__all__}
    assert named == declared - {"kernel"}
    assert {name.removeprefix("exclusive_") for name in OPERATIONS} - {"kernel"} <= named


def test_every_command_for_a_number_names_a_bench_that_is_there() -> None:
    benches = Path(__file__).resolve().parent.parent / "checks" / "bench"
    named = set(re.findall(r"`python checks/bench/(\w+\.py)", README))
    modules = {"device_model.py", "launches.py", "measure.py", "scale_relu.py", "seeded_root.py", "sums.py"}
    assert named == {path.name for path in benches.glob("*.py")} - modules

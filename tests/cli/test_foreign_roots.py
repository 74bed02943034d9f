"""A root of another compiler through the whole of `gompute build`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gompute.artifacts.kernel_set import KernelSet
from gompute.targets import parse_target

GOLDEN = Path(__file__).resolve().parent.parent.parent / "checks" / "golden" / "ir"
#: By root: the files for NVIDIA and AMD, and the names of the kernels.
FOREIGN = {
    "zig": ("zig-0.16-nvptx64.ll", "zig-0.16-amdgcn.ll", {"raw_add", "raw_add_again", "raw_scale"}),
    "cpp": ("cuda-nvptx64.ll", "hip-amdgcn.ll", {"_Z4fillIiEvPT_S0_", "_Z7raw_addPf6Params"}),
    "rust": ("rust-nvptx64.ll", "rust-amdgcn.ll", {"raw_add_64b1dd57"}),
}


def gompute(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent.parent)}
    return subprocess.run(
        [sys.executable, "-m", "gompute", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_kernels_of_other_compilers_become_ptx_that_ptxas_takes_and_code_objects_with_their_public_names(tmp_path: Path) -> None:
    pytest.importorskip("nvidia", reason="ptxas is in the extra cubin")
    declared = '[tool.gompute]\ntargets = ["sm_89", "gfx1100", "x86-64-v3"]\nmanifest = "m.json"\n'
    for root, (nvidia, amd, _) in FOREIGN.items():
        for name in (nvidia, amd):
            (tmp_path / name).write_bytes((GOLDEN / name).read_bytes())
        declared += f'[tool.gompute.roots.{root}]\nsource = {{ cuda = "{nvidia}", hip = "{amd}" }}\n'
    (tmp_path / "pyproject.toml").write_text(declared)
    launched = {root: {name: [] for name in sorted(names)} for root, (_, _, names) in FOREIGN.items()}
    (tmp_path / "m.json").write_text(json.dumps({"version": 1, "kernels": launched}))
    done = gompute(tmp_path, "build", "--emit", "ptx,cubin", "-o", "whole")
    assert done.returncode == 0, done.stderr
    kernels = KernelSet.open(tmp_path / "whole")
    assert set(kernels.kernels) == {name for _, _, names in FOREIGN.values() for name in names}
    assert [target.name for target in kernels.targets] == ["sm_89", "gfx1100"]
    for root, (_, _, names) in FOREIGN.items():
        text = kernels.blob(root, parse_target("sm_89"), "ptx").decode()
        hsaco = kernels.blob(root, parse_target("gfx1100"), "hsaco")
        for name in names:
            assert f".visible .entry {name}(" in text
            assert f"{name}.kd".encode() in hsaco
            assert kernels.entry(name, parse_target("sm_89")).resources.registers is not None  # ptxas has taken it

    (tmp_path / "m.json").write_text('{"version": 1, "kernels": {"zig": {"raw_add": []}}}')
    assert gompute(tmp_path, "build", "-o", "pruned").returncode == 0
    pruned = KernelSet.open(tmp_path / "pruned")
    assert pruned.kernels == ("raw_add",)
    assert pruned.index.left_out == {"zig": ("raw_add_again", "raw_scale"), "cpp": (), "rust": ()}
    assert b"raw_scale" not in pruned.blob("zig", parse_target("sm_89"), "ptx")


def test_a_broken_file_and_one_of_the_other_vendor_fail_alone(tmp_path: Path) -> None:
    (tmp_path / "good.ll").write_bytes((GOLDEN / "zig-0.17-nvptx64.ll").read_bytes())
    (tmp_path / "amd.ll").write_bytes((GOLDEN / "zig-0.17-amdgcn.ll").read_bytes())
    data = (GOLDEN / "zig-0.17-nvptx64.ll").read_bytes()
    (tmp_path / "broken.bc").write_bytes(b"BC\xc0\xde" + data[:400])
    done = gompute(tmp_path, "build", "good.ll", "amd.ll", "broken.bc", "-t", "sm_89", "-o", "out")
    assert done.returncode == 1
    assert "amd.ll: the module is for amdgcn-amd-amdhsa, and cannot be compiled for sm_89." in done.stderr
    assert "broken.bc" in done.stderr
    assert "a bug in gompute" not in done.stderr
    assert KernelSet.open(tmp_path / "out").roots == ("good",)

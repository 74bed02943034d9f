"""The flake of this repository, evaluated and really built, in the sandbox."""

from __future__ import annotations

import filecmp
import json
import os
import subprocess
import sys
from pathlib import Path

from tests.nix.standin import ROOT, Nix


def files(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_flake_check(repository: Nix) -> None:
    """Tests, formatting, kernels, reproducibility, closures; x86-64 is built, aarch64 evaluated."""
    repository.run("flake", "check", "-L")


def test_flake_show_and_the_command_line(repository: Nix, tmp_path: Path) -> None:
    shown = repository.run("flake", "show").stdout
    for name in ("kernels-photo-sm_89", "with-kernels", "templates", "overlays", "apps", "devShells"):
        assert name in shown
    said = repository.run("run", ".", "--", "demo", "-o", str(tmp_path / "demo.png")).stdout
    assert said.count("equal NumPy's, bit for bit") == 2
    assert (tmp_path / "demo.png").is_file()


def test_it_evaluates_for_aarch64(repository: Nix) -> None:
    """Newer Nix evaluates the system at hand alone, unless told to."""
    for output in ("packages", "checks", "devShells"):
        derivations = repository.evaluate(f".#{output}.aarch64-linux", "--apply", "builtins.mapAttrs (_: made: made.drvPath)")
        assert derivations
        assert all(path.startswith("/nix/store/") for path in derivations.values())


def test_the_shell_has_the_tools(repository: Nix) -> None:
    """Started with an empty PATH, which `nix develop` would append."""
    script = (
        "type pytest ruff mypy ld.lld ptxas gompute && pytest -q -p no:cacheprovider tests/targets && ld.lld --version && ptxas --version"
    )
    said = repository.run("develop", "-c", "bash", "-euc", f"PATH=${{PATH%%:/usr/*}}; {script}").stdout
    assert " passed" in said
    assert "LLD 22" in said


def test_the_lock_is_whole(tmp_path: Path) -> None:
    """Every input is pinned by its hash: nothing has to be asked of a network to know that."""
    for name in ("flake.nix", "flake.lock"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    command = ["nix", "--extra-experimental-features", "nix-command flakes", "flake", "metadata", "--json", "--no-update-lock-file"]
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    environment = {**os.environ, **nowhere, "NIX_CONFIG": "flake-registry =", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    said = subprocess.run(
        [*command, "--store", str(tmp_path / "store"), f"path:{tmp_path}"], env=environment, capture_output=True, check=False
    )
    assert said.returncode == 0, said.stderr
    nodes = json.loads(said.stdout)["locks"]["nodes"]
    assert all("narHash" in node["locked"] for name, node in nodes.items() if name != "root")


def test_a_second_build_does_nothing_and_the_bytes_are_those_of_pip(repository: Nix, tmp_path: Path) -> None:
    built = repository.output("kernels")
    assert repository.built(".#kernels") == []
    command = [sys.executable, "-m", "gompute", "build", "-o", str(tmp_path / "kernels")]
    subprocess.run(command, cwd=repository.flake, env={**os.environ, "PYTHONPATH": str(repository.flake)}, check=True, capture_output=True)
    assert files(built) == files(tmp_path / "kernels")
    assert filecmp.cmpfiles(built, tmp_path / "kernels", files(built), shallow=False)[0] == files(built)


def test_a_noisy_machine_changes_nothing(repository: Nix, tmp_path: Path) -> None:
    """GPU tools first on PATH are not called, and every root is built again for every target to the same bytes."""
    paths = repository.paths()
    for name in ("nvidia-smi", "rocminfo", "amdgpu-arch"):
        (tmp_path / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/called\n")
        (tmp_path / name).chmod(0o755)
    noise = {"CUDA_VISIBLE_DEVICES": "1", "GOMPUTE_KERNELS": "/nowhere", "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LANG": "tr_TR.UTF-8"}
    noisy = Nix(repository.flake, {"PATH": f"{tmp_path}:{os.environ['PATH']}", **noise})
    assert noisy.paths() == paths
    units = [f".#{name}" for name in paths if name.startswith("kernels")]
    noisy.run("build", "--no-link", *units)
    noisy.run("build", "--no-link", "--rebuild", *units)
    assert not (tmp_path / "called").exists()


def test_only_what_a_kernel_is_made_of_changes_its_path(edited: Nix) -> None:
    before = edited.paths()
    for name in ("README.md", "gompute/runtime/buffer.py", "gompute/handles/kernel.py", "gompute/cli/run.py", "tests/test_readme.py"):
        with open(edited.flake / name, "a", encoding="utf-8") as file:
            file.write("\n# an edit\n")
    after = edited.paths()
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"default", "with-kernels"}

    with open(edited.flake / "gompute/backends/ptx.py", "a", encoding="utf-8") as file:
        file.write("\n# an edit\n")
    assert all(path != after[name] for name, path in edited.paths().items())

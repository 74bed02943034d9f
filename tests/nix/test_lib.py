"""nix/lib: every function has examples, and they hold; the table of targets is Python's."""

from __future__ import annotations

import json
import os
import subprocess

from gompute.targets.dump import targets_json
from tests.nix.standin import ROOT


def test_examples() -> None:
    expression = f"import {ROOT}/tests/nix/lib {{ lib = import {ROOT}/nix/lib; }}"
    command = [
        "nix",
        "--extra-experimental-features",
        "nix-command",
        "eval",
        "--store",
        "dummy://",
        "--impure",
        "--json",
        "--expr",
        expression,
    ]
    done = subprocess.run(command, env={**os.environ, "NIX_CONFIG": ""}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_the_builders_that_the_flake_exports_have_checks_of_their_names() -> None:
    """Functions that need packages are tried by building with them; the others have examples, which `test_examples` asks for."""
    flake = (ROOT / "flake.nix").read_text(encoding="utf-8")
    for builder in ("mkKernels", "withKernels"):
        assert f"        {builder} = " in flake
        assert (ROOT / "nix" / "checks" / f"{builder}.nix").is_file()


def test_the_table_of_targets_is_fresh() -> None:
    stale = "stale; write it again: python -m gompute.targets > nix/lib/targets.json"
    assert (ROOT / "nix" / "lib" / "targets.json").read_text(encoding="utf-8") == targets_json(), stale

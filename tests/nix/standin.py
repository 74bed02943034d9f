"""Nix on this repository's flake, with the stand-ins for its inputs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
STANDIN = ROOT / "checks" / "standin"


def copy_of_the_repository(folder: Path) -> Path:
    """What a clone of it would hold, edits included. Nix reads a copy whole, so nothing that it is told to ignore may be in it."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
    else:
        # Of an archive, which has no list of what belongs to it.
        unwanted = shutil.ignore_patterns("__pycache__")
        for entry in ROOT.iterdir():
            if entry.is_dir() and (not entry.name.startswith(".") or entry.name == ".ci") and entry.name not in ("build", "dist"):
                shutil.copytree(entry, folder / entry.name, ignore=unwanted)
            elif entry.is_file() and not entry.is_symlink():
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy2(entry, folder / entry.name)
    return folder


@dataclass(frozen=True)
class Nix:
    """Runs Nix in one flake's folder.

    Attributes:
        flake: the folder; it is no git repository, so Nix reads all of it.
        variables: what to add to the environment.
    """

    flake: Path
    variables: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(STANDIN / "nix"), *arguments],
            cwd=self.flake,
            env={**os.environ, **self.variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stdout[-3000:] + done.stderr[-6000:]
        return done

    def built(self, *arguments: str) -> list[str]:
        """Build, and name the derivations that were not there already, without their hashes."""
        said = self.run("build", "--no-link", *arguments).stderr
        return sorted(re.findall(r"^building '/nix/store/[a-z0-9]{32}-(.*)\.drv'", said, re.MULTILINE))

    def output(self, attribute: str) -> Path:
        """Build one attribute; where its output is on this machine's disk."""
        self.run("build", "--no-link", f".#{attribute}")
        return self.store() / str(self.evaluate(f".#packages.x86_64-linux.{attribute}.outPath")).lstrip("/")

    def evaluate(self, *arguments: str) -> Any:
        return json.loads(self.run("eval", "--json", *arguments).stdout)

    def paths(self) -> dict[str, str]:
        """The output paths of all packages, by name."""
        found: dict[str, str] = self.evaluate(".#packages.x86_64-linux", "--apply", "builtins.mapAttrs (_: package: package.outPath)")
        return found

    def store(self) -> Path:
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        return Path(os.environ.get("GOMPUTE_STANDIN_CACHE", f"{cache}/gompute/standin"), "store")

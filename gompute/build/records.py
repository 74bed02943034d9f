"""What a root has read and gave when it was last lowered for a target, and whether it would read the same now."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from gompute.build.job import CompileJob
from gompute.build.keys import digest, python_identity, toolchain_identity
from gompute.build.store import Store
from gompute.lang.digests import hash_file, hash_folder
from gompute.targets import OPTIMIZE, Mode

__all__ = ["Lowered", "Records"]

_VARIANTS = 4
"""How many states of its sources a root is remembered in: those of a few branches that are worked on in turn."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """One lowering of a root for a target.

    Attributes:
        reads: see `gompute.build.outcome.Compiled`.
        units: per kernel the entries of its name table as JSON, and the hash of its IR.
        digests: see `gompute.frontend.separate.kernel_digests`.
        left_out: names of the kernels that the root makes and that were not asked for.
        said: what the module printed.
        toolchain, python: see `gompute.build.keys`.
    """

    reads: Mapping[str, Any]
    units: tuple[tuple[Sequence[Mapping[str, Any]], str], ...]
    digests: Mapping[str, str]
    left_out: tuple[str, ...]
    said: str
    toolchain: Mapping[str, str]
    python: str

    def to_json(self) -> dict[str, Any]:
        return {
            "reads": dict(self.reads),
            "units": [[list(entries), ir] for entries, ir in self.units],
            "digests": dict(self.digests),
            "left_out": list(self.left_out),
            "said": self.said,
            "toolchain": dict(self.toolchain),
            "python": self.python,
        }

    @property
    def kernels(self) -> dict[str, str]:
        """The hash of each kernel's IR, by its name."""
        return {entries[0]["name"]: ir for entries, ir in self.units if entries}

    @property
    def sources(self) -> Mapping[str, str]:
        """The sha256 of each source file, by path."""
        sources: Mapping[str, str] = self.reads["sources"]
        return sources


class Records:
    """The lowerings that one build knows of. Files are hashed once for all roots and targets."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._hash_file = cache(_or_none(hash_file))
        self._hash_folder = cache(_or_none(hash_folder))

    def variants(self, job: CompileJob) -> list[Lowered]:
        """What is known of a root and target, newest first."""
        message = self._store.get("root", _key(job))
        if message is None:
            return []
        return [
            Lowered(
                variant["reads"],
                tuple((entries, ir) for entries, ir in variant["units"]),
                variant.get("digests", {}),
                tuple(variant["left_out"]),
                variant["said"],
                variant["toolchain"],
                variant["python"],
            )
            for variant in message.body["variants"]
        ]

    def other_mode(self, job: CompileJob) -> Mode | None:
        """A mode other than the job's that the root and target are remembered in; None where there is none."""
        others = (Mode(optimize, lines) for optimize in OPTIMIZE for lines in (job.mode.lineinfo, not job.mode.lineinfo))
        return next((mode for mode in others if mode != job.mode and self._store.get("root", _key(replace(job, mode=mode)))), None)

    def current(self, variants: Sequence[Lowered]) -> Lowered | None:
        """The one of these that would come out now."""
        return next((variant for variant in variants if not self.changes(variant)), None)

    def changes(self, variant: Lowered) -> list[str]:
        """What differs now from when this lowering was made; nothing when it would come out the same."""
        found = [
            f"toolchain: {name} changed"
            for name in sorted({*variant.toolchain, *toolchain_identity()})
            if variant.toolchain.get(name) != toolchain_identity().get(name)
        ]
        if variant.python != python_identity():
            found.append(f"toolchain: Python {variant.python.split()[1]} became {python_identity().split()[1]}")
        reads = variant.reads
        for number, (path, digest_then) in enumerate({**reads["sources"], **reads["files"]}.items()):
            now = self._hash_file(path)
            if now != digest_then:
                what = "source" if number < len(reads["sources"]) else "file"
                found.append(f"{what}: {path} {'changed' if now is not None else 'is gone'}")
        found += [f"folder: what lies in {path} changed" for path, then in reads["folders"].items() if self._hash_folder(path) != then]
        found += [f"import: {path} is there now" for path in reads["absent"] if os.path.exists(path)]
        return found

    def keep(self, job: CompileJob, made: Lowered, variants: Sequence[Lowered]) -> None:
        """Remember a lowering, before the others."""
        others = [variant for variant in variants if variant.reads != made.reads or variant.toolchain != made.toolchain]
        body = {"variants": [variant.to_json() for variant in [made, *others][:_VARIANTS]]}
        self._store.put("root", _key(job), body)


def _key(job: CompileJob) -> str:
    imports = job.root.imports_for(job.target)
    declared = ["discovered"] if imports is None else ["declared", *map(str, imports)]
    kernels = ["all"] if job.kernels is None else ["some", *job.kernels]
    source = os.path.realpath(job.root.source_for(job.target) or job.root.source)
    return digest("root", job.root.name, source, job.target.name, str(job.mode), *declared, *kernels)


def _or_none(function: Any) -> Any:
    def call(path: str) -> str | None:
        try:
            return str(function(path))
        except OSError:
            return None

    return call

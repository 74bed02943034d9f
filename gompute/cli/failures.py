"""What went wrong in the units of a build or a check, told once however many targets it concerns."""

from __future__ import annotations

from collections.abc import Sequence

from gompute.artifacts.manifest import Manifest
from gompute.build.outcome import Failed, Outcome
from gompute.cli.report import print_error, print_note

__all__ = ["print_failures", "print_said"]


def print_failures(failed: Sequence[Failed], launched: Manifest | None = None) -> None:
    """Each different failure of a root once, with the targets that it concerns and the places that `launched` has of its kernels."""
    targets: dict[tuple[str, str], list[str]] = {}
    sites: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for unit in failed:
        failure = unit.job.root_name, unit.message
        targets.setdefault(failure, []).append(unit.job.target.name)
        if launched is not None:
            sites[failure] = {kernel: launched.sites(unit.job.root_name, kernel) for kernel in unit.kernels}
    for (root, message), names in targets.items():
        places = (f"\n  {kernel} is launched at {', '.join(at)}" for kernel, at in sites.get((root, message), {}).items() if at)
        print_error(f"{message}{''.join(places)}\n  [root {root}, for {', '.join(names)}]")
    if any(unit.internal for unit in failed):
        print_note("There is a bug in gompute above. Please report it, with that text and the source that brings it out.")


def print_said(outcomes: Sequence[Outcome]) -> None:
    """What the authors' modules printed while they were imported: once per root and text, and not where a failure's message has it."""
    seen: set[tuple[str, str]] = set()
    for outcome in outcomes:
        key = (outcome.job.root_name, outcome.said)
        if outcome.said and key not in seen and not (isinstance(outcome, Failed) and outcome.said.strip() in outcome.message):
            seen.add(key)
            lines = "\n".join(f"  {line}" for line in outcome.said.rstrip().splitlines())
            print_note(f"{outcome.job.root_name} for {outcome.job.target.name} printed:\n{lines}")

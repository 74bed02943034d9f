"""What a build did and why, and where its time went."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gompute.build.outcome import Compiled, Failed, Outcome, Step
from gompute.cli.report import count, print_note, table

__all__ = ["print_timings", "print_why", "unit_json"]

# Phase -> the part of the way that it belongs to.
_PARTS = {
    "import": "frontend",
    "lower": "frontend",
    "read": "optimise",
    "optimise": "optimise",
    "generate": "codegen",
    "link": "link",
}
_LONGEST = 10
_BAR = 40


def print_why(outcomes: Sequence[Outcome]) -> None:
    """Per root and target: what was compiled and why, and how much came from the cache."""
    for outcome in outcomes:
        for line in _why(outcome):
            print_note(line)


def _why(outcome: Outcome) -> Iterator[str]:
    unit = f"{outcome.job.root_name} for {outcome.job.target.name}"
    if isinstance(outcome, Failed):
        yield f"{unit}: failed"
        return
    if outcome.reused:
        yield f"{unit}: nothing changed"
        return
    for reason in outcome.why:
        yield f"{unit}: {reason}"
    code = [step for step in outcome.steps if step.work == "code"]
    for step in code:
        if not step.reused:
            yield f"  compiled {', '.join(step.kernels)}" + (f": {step.why}" if step.why and (step.why,) != outcome.why else "")
    reused = sum(len(step.kernels) for step in code if step.reused)
    if reused:
        yield f"  {count(reused, 'kernel')} as before"


def print_timings(outcomes: Sequence[Outcome]) -> None:
    """Seconds of all workers by phase, as bars, and the steps that took longest."""
    steps = [(outcome, step) for outcome in outcomes if isinstance(outcome, Compiled) for step in outcome.steps if not step.reused]
    print_note("\n".join(_bars(step for _, step in steps)))
    longest = sorted(steps, key=lambda pair: -pair[1].seconds)[:_LONGEST]
    if longest:
        rows = (
            (f"{step.seconds:.2f}", step.work, outcome.job.root_name, outcome.job.target.name, _what(step)) for outcome, step in longest
        )
        print_note("\n" + table(("seconds", "step", "root", "target", "kernels"), rows))


def _what(step: Step) -> str:
    return ", ".join(step.kernels) if len(step.kernels) <= 3 else count(len(step.kernels), "kernel")


def _bars(steps: Iterable[Step]) -> Iterator[str]:
    parts: dict[str, dict[str, float]] = {part: {} for part in dict.fromkeys(_PARTS.values())}
    for step in steps:
        for phase, seconds in step.phases.items():
            if phase in _PARTS:
                phases = parts[_PARTS[phase]]
                phases[phase] = phases.get(phase, 0.0) + seconds
    total = sum(sum(phases.values()) for phases in parts.values())
    if not total:
        yield "all from the cache"
        return
    for part, phases in parts.items():
        seconds = sum(phases.values())
        inner = f" ({', '.join(f'{phase} {taken:.2f} s' for phase, taken in phases.items())})" if len(phases) > 1 else ""
        yield f"{part:9} {seconds:7.2f} s {100 * seconds / total:3.0f} % {'#' * round(_BAR * seconds / total)}{inner}"


def unit_json(outcome: Outcome) -> dict[str, Any]:
    """A root and target for ``--json``: its steps, why they were done, and their seconds by phase."""
    made: dict[str, Any] = {"root": outcome.job.root_name, "target": outcome.job.target.name, "seconds": round(outcome.seconds, 4)}
    if isinstance(outcome, Failed):
        return made
    phases: dict[str, float] = defaultdict(float)
    for step in outcome.steps:
        for phase, seconds in step.phases.items():
            phases[phase] += seconds
    code = [step for step in outcome.steps if step.work == "code"]
    return {
        **made,
        "why": list(outcome.why),
        "compiled": sorted(name for step in code if not step.reused for name in step.kernels),
        "reused": sorted(name for step in code if step.reused for name in step.kernels),
        "phases": {phase: round(seconds, 4) for phase, seconds in sorted(phases.items())},
    }

"""``gompute doctor``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any

import click

from gompute.artifacts.kernel_set import KernelSet
from gompute.cli import options
from gompute.cli.report import print_json, readable_size
from gompute.errors import Error, ModuleLoadFailed
from gompute.targets.compat import Candidate, choose, why_not
from gompute.targets.device import Device

__all__ = ["doctor_command"]


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which code of a root a device would use.

    Attributes:
        used: target and kind of blob; None where there is none.
        others: the rest of the root's code for this backend, each with why it is not used.
        fix: where none is used, what to do.
    """

    root: str
    used: str | None
    others: tuple[tuple[str, str], ...]
    fix: str | None


@dataclass(frozen=True, slots=True)
class _Place:
    """A device, with what it would use of the set."""

    backend: str
    ordinal: int
    label: str
    arch: str | None
    memory: tuple[int, int] | None
    driver: tuple[int, int] | None
    max_ptx: tuple[int, int] | None
    max_code_object: int | None
    problem: str | None
    choices: tuple[_Choice, ...]


@click.command("doctor")
@click.argument("kernels", metavar="[SET]", required=False, type=click.Path(path_type=Path))
@options.as_json
def doctor_command(kernels: Path | None, as_json: bool) -> int:
    """Say which driver, device and artifact would be used here, and why not the others.

    SET is the folder of a kernel set; without it, the one that handles use: GOMPUTE_KERNELS, else the installed gompute_kernels. A missing
    driver is no fault: the exit code is 1 where a driver is there and does not work, where the set cannot be opened, or where nothing here
    can run one of its roots.

    \b
    Example:
      gompute doctor kernels
      gompute doctor --json
    """
    from gompute.runtime.probe import Found, probe

    kernel_set, origin, set_problem = _open_set(kernels)
    backends: list[tuple[Found | None, list[_Place]]] = []
    for backend in ("cuda", "hip"):
        found = probe(backend)
        places = [_place(backend, item.ordinal, item.device, item.memory, item.problem, kernel_set) for item in found.devices]
        backends.append((found, places))
    backends.append((None, [_processor(kernel_set)]))
    every = [place for _, places in backends for place in places]
    nowhere = _nowhere(kernel_set, every)
    faults = [found.problem for found, _ in backends if found is not None and found.problem is not None and not found.missing]
    faults += [place.problem for place in every if place.problem is not None]
    faults += [set_problem] if set_problem is not None else []
    document = {
        "set": None if kernel_set is None else str(kernel_set.path),
        "set_from": origin,
        "set_problem": set_problem,
        "compiler": _compiler(),
        "backends": [
            {
                "backend": places[0].backend if found is None else found.backend,
                "libraries": [] if found is None else list(found.libraries),
                "binding": None if found is None else found.binding,
                "problem": None if found is None else found.problem,
                "missing": found is not None and found.missing,
                "devices": [asdict(place) for place in places],
            }
            for found, places in backends
        ],
        "nowhere": nowhere,
        "ok": not faults and not nowhere,
    }
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(_text(document)))
    return 0 if document["ok"] else 1


def _open_set(given: Path | None) -> tuple[KernelSet | None, str, str | None]:
    """The set, where it is from, and what is wrong with it."""
    from gompute.handles.defaults import default_set

    origin = (
        "the argument" if given is not None else "GOMPUTE_KERNELS" if os.environ.get("GOMPUTE_KERNELS") else "the installed gompute_kernels"
    )
    try:
        found = default_set(given)
    except Error as error:
        return None, origin, str(error)
    return found, origin, None


def _place(
    backend: str,
    ordinal: int,
    device: Device | None,
    memory: tuple[int, int] | None,
    problem: str | None,
    kernels: KernelSet | None,
) -> _Place:
    if device is None:
        return _Place(backend, ordinal, f"{backend} device {ordinal}", None, memory, None, None, None, problem, ())
    choices = () if kernels is None else tuple(_choose(kernels, root, device) for root in kernels.roots)
    return _Place(
        backend, ordinal, device.label, device.arch, memory, device.driver, device.max_ptx, device.max_code_object, problem, choices
    )


def _processor(kernels: KernelSet | None) -> _Place:
    from gompute.runtime import cpu

    with cpu.Context() as context:
        return _place("cpu", 0, context.device, context.memory_info(), None, kernels)


def _choose(kernels: KernelSet, root: str, device: Device) -> _Choice:
    candidates = [
        Candidate(unit.target, blob.kind, None if blob.version is None else tuple(map(int, blob.version.split("."))))
        for unit in kernels.index.units
        if unit.root == root
        for blob in unit.blobs
    ]
    ours = [candidate for candidate in candidates if candidate.target.backend == device.backend]
    try:
        best = choose(candidates, device, what=f"root {root!r}")
    except ModuleLoadFailed as error:
        return _Choice(root, None, tuple((str(one), why_not(one, device) or "runs") for one in ours), str(error).splitlines()[-1])
    others = tuple((str(one), why_not(one, device) or f"runs too, and {best} is the better choice") for one in ours if one != best)
    return _Choice(root, str(best), others, None)


def _nowhere(kernels: KernelSet | None, places: Sequence[_Place]) -> list[str]:
    """The roots that nothing here can run."""
    runs = {choice.root for place in places for choice in place.choices if choice.used is not None}
    return [] if kernels is None else [root for root in kernels.roots if root not in runs]


def _compiler() -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name in ("llvmlite", "ziglang"):
        found[name] = metadata.version(name) if util.find_spec(name) is not None else None
    return found


def _text(document: dict[str, Any]) -> Iterator[str]:
    for backend in document["backends"]:
        name, places = backend["backend"], backend["devices"]
        parts = [*backend["libraries"], *([backend["binding"]] if backend["binding"] else [])]
        yield f"{name}: {', '.join(parts)}" if parts else f"{name}:"
        if backend["problem"] is not None:
            yield from _indented(backend["problem"], "  ")
        for place in places:
            yield f"  device {place['ordinal']}: {_described(place)}"
            if place["problem"] is not None:
                yield from _indented(place["problem"], "    ")
            for choice in place["choices"]:
                yield f"    root {choice['root']}: {choice['used'] or 'no code for this device'}"
                for other, reason in choice["others"]:
                    yield f"      not {other}: {reason}"
                if choice["fix"] is not None:
                    yield f"      {choice['fix']}"
        yield ""
    missing = [name for name, version in document["compiler"].items() if version is None]
    versions = ", ".join(f"{name} {version}" for name, version in document["compiler"].items() if version is not None)
    yield f"compiler: {versions or 'not installed'}" + ('; to build kernels: pip install "gompute[compiler]"' if missing else "")
    if document["set_problem"] is not None:
        yield f"kernel set, from {document['set_from']}:"
        yield from _indented(document["set_problem"], "  ")
    elif document["set"] is None:
        yield "kernel set: none; name a folder, set GOMPUTE_KERNELS, or install a gompute_kernels package"
    else:
        yield f"kernel set: {document['set']}, from {document['set_from']}"
    for root in document["nowhere"]:
        yield f"nothing here can run root {root}"


def _described(place: dict[str, Any]) -> str:
    parts = [place["label"]]
    if place["memory"] is not None:
        free, total = place["memory"]
        parts.append(f"{readable_size(total)} of memory, {readable_size(free)} free")
    if place["driver"] is not None:
        version = ".".join(map(str, place["driver"]))
        takes = {
            "cuda": lambda: f", PTX up to {'.'.join(map(str, place['max_ptx']))}" if place["max_ptx"] else "",
            "hip": lambda: f", code objects up to version {place['max_code_object']}",
        }[place["backend"]]()
        parts.append(f"driver of {'CUDA' if place['backend'] == 'cuda' else 'HIP'} {version}{takes}")
    return "; ".join(parts)


def _indented(text: str, by: str) -> Iterator[str]:
    for line in text.splitlines():
        yield by + line

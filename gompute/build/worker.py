"""What a child of the zygote does: one step of one root. Importing this module loads the frontend; the code generators, which take as long
to load, follow while the first child is at work."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gompute import frontend
from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.name_table import Known, kernel_from_json, kernel_to_json, kernels_from_json
from gompute.backends.blob import Piece
from gompute.build.job import mode_of
from gompute.build.roots import IR_SUFFIXES
from gompute.build.serve import Report
from gompute.errors import CompileError, Error, InternalError
from gompute.targets import Target, parse_target

__all__ = ["compile_unit", "foresee", "prepare"]

Answer = tuple[dict[str, Any], Sequence[bytes]]


def prepare(order: Mapping[str, Any]) -> None:
    """In the zygote: load what an order takes. Nothing is compiled."""
    if order["work"] in ("code", "join"):
        _load_backend(order)


def foresee(order: Mapping[str, Any]) -> None:
    """In the zygote: load what the code of a kernel takes that is being lowered."""
    if order["work"] == "lower":
        _load_backend(order)


def _load_backend(order: Mapping[str, Any]) -> None:
    from gompute.backends import pipeline

    pipeline.prepare([parse_target(order["target"]).backend])


def compile_unit(order: Mapping[str, Any], blobs: Sequence[bytes], report: Report) -> Answer:
    """Do one order of `gompute.build.task`; what goes wrong becomes an answer too, unless it ends the process."""
    clock = _Clock()
    try:
        answer, made = _STEPS[order["work"]](order, blobs, report, clock)
        return {"status": "done", "phases": clock.phases, **answer}, made
    except CompileError as error:
        return {"status": "refused", "message": str(error), "missing": list(error.kernels)}, ()
    except Error as error:
        return {"status": "refused", "message": str(error)}, ()
    except MemoryError:
        return {"status": "memory"}, ()
    except OSError as error:  # no file left to open, no room to write
        return {"status": "refused", "message": f"the compiler's process could not go on: {error}"}, ()
    except InternalError as error:
        return {"status": "bug", "message": str(error)}, ()
    except Exception:
        return {"status": "bug", "message": traceback.format_exc()}, ()


class _Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {}
        self._since = time.monotonic()

    def lap(self, phase: str) -> None:
        """What has passed since the last call was spent on `phase`."""
        now = time.monotonic()
        self.phases[phase] = self.phases.get(phase, 0.0) + now - self._since
        self._since = now


def _ir(order: Mapping[str, Any], _: Sequence[bytes], report: Report, clock: _Clock) -> Answer:
    from gompute.build.ir_tool import serve_ir  # most workers compile

    return serve_ir(order), ()


def _check(order: Mapping[str, Any], _: Sequence[bytes], report: Report, clock: _Clock) -> Answer:
    """Import and check a root."""
    from gompute.backends.limits import check_limits
    from gompute.backends.pipeline import examine

    target = parse_target(order["target"])
    lowering = _begin(order, target, report, clock)
    kernels: list[KernelEntry] = []
    for unit in lowering.units:
        clock.lap("lower")
        kernels += unit.kernels
        if lowering.foreign:
            examine(unit.ir, unit.kernels, target)  # what the frontend makes is checked before it is IR
    # What a launch passes is known without code; shared memory is not.
    check_limits(kernels, dict.fromkeys((kernel.symbol for kernel in kernels), 0), target)
    return _lowered(lowering, kernels), ()


def _lower(order: Mapping[str, Any], _: Sequence[bytes], report: Report, clock: _Clock) -> Answer:
    """Import and check a root, and tell each kernel's IR as it is made."""
    lowering = _begin(order, parse_target(order["target"]), report, clock)
    kernels: list[KernelEntry] = []
    for unit in lowering.units:
        clock.lap("lower")
        kernels += unit.kernels
        more = {"count": lowering.count, "entries": [kernel_to_json(kernel) for kernel in unit.kernels]}
        report("lowered", [kernel.name for kernel in unit.kernels], more, [unit.ir.encode()])
    return _lowered(lowering, kernels), ()


def _begin(order: Mapping[str, Any], target: Target, report: Report, clock: _Clock) -> frontend.Lowering:
    """Import a root in its folder."""
    report("check", ())
    os.chdir(order["folder"])
    lowering = _lowering(order, target)
    clock.lap("import")
    return lowering


def _lowered(lowering: frontend.Lowering, kernels: Sequence[KernelEntry]) -> dict[str, Any]:
    """What there is to say of a root when its kernels are through."""
    reads = lowering.reads()
    found: dict[str, Any] = {"sources": dict(reads.sources), "files": dict(reads.files), "folders": dict(reads.folders)}
    found |= {"absent": list(reads.absent), "unknown": reads.unknown}
    if lowering.code is not None:
        code = lowering.code(reads.sources)
        found["code"] = {"module": code.module, "imports": dict(code.imports)}
    answer = {"kernels": [kernel_to_json(kernel) for kernel in kernels], "left_out": list(lowering.left_out), "reads": found}
    return {**answer, "digests": dict(lowering.digests), "kept": list(lowering.kept)}


def _lowering(order: Mapping[str, Any], target: Target) -> frontend.Lowering:
    """A root of any kind, on its way to LLVM IR for a target."""
    source = Path(order["source"])
    if source.suffix not in IR_SUFFIXES:
        imports = None if order["imports"] is None else [Path(path) for path in order["imports"]]
        known = order["known"] if order["work"] == "lower" else None
        return frontend.lower_root(
            source, name=order["root"], imports=imports, target=target, kernels=order["kernels"], mode=mode_of(order), known=known
        )
    from gompute.ir.root import foreign_root  # most roots are Python

    lowering, warnings = foreign_root(source, name=order["root"], target=target, kernels=order["kernels"])
    for warning in warnings:
        sys.stderr.write(f"warning: {source}: {warning}\n")
    sys.stderr.flush()
    return lowering


def _code(order: Mapping[str, Any], blobs: Sequence[bytes], report: Report, clock: _Clock) -> Answer:
    """One kernel's IR to its code; where it is all that its root has, to the root's blobs too."""
    from gompute.backends import pipeline

    target, emit = parse_target(order["target"]), frozenset(order["emit"])
    kernels = tuple(kernel_from_json(kernel) for kernel in order["kernels"])
    report("codegen", [kernel.name for kernel in kernels])
    piece = pipeline.compile_piece(blobs[0].decode(), kernels, target, emit=emit, mode=mode_of(order), timed=clock.lap)
    answer: dict[str, Any] = {"piece": piece.facts}
    if not order["whole"]:
        return answer, [piece.code]
    more, made = _joined([piece], target, emit)
    clock.lap("link")
    return {**answer, **more}, [piece.code, *made]


def _join(order: Mapping[str, Any], blobs: Sequence[bytes], report: Report, clock: _Clock) -> Answer:
    """All pieces of a root to its blobs."""
    target, emit = parse_target(order["target"]), frozenset(order["emit"])
    known = Known()
    pieces = [Piece.of(kernels_from_json(piece["kernels"], known), code, piece) for piece, code in zip(order["pieces"], blobs, strict=True)]
    report("link", [kernel.name for piece in pieces for kernel in piece.kernels])
    made = _joined(pieces, target, emit)
    clock.lap("link")
    return made


def _joined(pieces: Sequence[Piece], target: Target, emit: frozenset[str]) -> Answer:
    from gompute.backends import pipeline

    made = pipeline.join_pieces(pieces, target, emit=emit)
    return {
        "kernels": [kernel_to_json(kernel) for kernel in made.kernels],
        "blobs": [{"kind": blob.kind, "version": blob.version} for blob in made.blobs],
        "listings": dict(made.listings),
        "toolchain": dict(made.toolchain),
    }, [blob.data for blob in made.blobs]


_STEPS = {"check": _check, "code": _code, "ir": _ir, "join": _join, "lower": _lower}

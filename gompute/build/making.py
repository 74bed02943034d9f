"""One root on its way for one target: what there is to do, what the cache has of it, and what came out."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.name_table import Known, kernel_to_json, kernels_from_json
from gompute.backends.blob import Piece
from gompute.backends.joining import generated, is_text, join_texts
from gompute.backends.work import Whole
from gompute.build.job import CodegenJob, CompileJob, Job, mode_order
from gompute.build.keys import blob_key, code_key, digest, python_identity, toolchain_identity
from gompute.build.outcome import Compiled, CompiledBlob, Failed, Outcome, Step
from gompute.build.records import Lowered, Records
from gompute.build.store import Store
from gompute.build.task import Answer, Task
from gompute.build.wire import Message, encode
from gompute.errors import InternalError

__all__ = ["Making"]

Entries = Sequence[Mapping[str, Any]]

_NEW = "a kernel of it is new"


@dataclass(frozen=True, slots=True)
class _Piece:
    """The code of one kernel, with what goes with it (`Piece.facts`), and a hash of all that where it is of use."""

    entries: Entries
    facts: Mapping[str, Any]
    code: bytes
    key: str = ""


class Making:
    """A job from its start to its outcome.

    Args:
        store, records: the cache; both None where there is none.
        known: see `gompute.artifacts.name_table.Known`.
        add: takes a task for a worker.
        meanwhile: takes what this process can do while workers are at work.
        end: takes the outcome, once.
    """

    def __init__(
        self,
        job: Job,
        store: Store | None,
        records: Records | None,
        known: Known,
        add: Callable[[Task], None],
        meanwhile: Callable[[Callable[[], None]], None],
        end: Callable[[Outcome], None],
    ) -> None:
        self._job = job
        self._store = store
        self._records = records
        self._known = known
        self._add = add
        self._meanwhile = meanwhile
        self._end = end
        self._text = is_text(job.target, job.emit)
        self._began = time.monotonic()
        self._variants: list[Lowered] = []
        self._offered: dict[str, tuple[Entries, str]] = {}
        self._offers = True
        self._compiled: set[tuple[str, ...]] = set()  # before the root began again
        self._why: tuple[str, ...] = ()
        self._done = False
        self._from_nothing()

    def _from_nothing(self) -> None:
        """Nothing is made yet."""
        self._units: list[tuple[Entries, str]] = []
        self._pieces: dict[int, _Piece] = {}
        self._open = 0
        self._lost = False
        self._lowered = False
        self._count = 0
        self._reads: Mapping[str, Any] = {"sources": {}}
        self._left_out: tuple[str, ...] = ()
        self._whole: tuple[Mapping[str, Any], tuple[bytes, ...]] | None = None
        self._failures: list[tuple[tuple[str, ...], str, bool]] = []
        self._said: list[str] = []
        self._steps: list[Step] = []

    def start(self) -> None:
        """Take what the cache has, and add a task for the rest."""
        if isinstance(self._job, CodegenJob):
            self._lowered, self._count = True, 1
            self._unit([kernel_to_json(kernel) for kernel in self._job.kernels], self._job.ir.encode(), "")
            return
        if self._records is None or self._job.check_only:
            self._lower()
            return
        self._variants = self._records.variants(self._job)
        current = self._records.current(self._variants)
        if current is not None and self._take(current):
            return
        if current is not None:
            self._why = ("cache: not all of it is there any more",)
        elif self._variants:
            self._why = tuple(self._records.changes(self._variants[0]))
        elif (before := self._records.other_mode(self._job)) is not None:
            self._why = (f"option: {before} became {self._job.mode}",)
        else:
            self._why = ("cache: never built before",)
        self._lower()

    # ---- source to IR ----

    def _take(self, lowered: Lowered) -> bool:
        """Go on from a lowering that is known; False where the IR of a kernel is not there any more."""
        found: list[tuple[Entries, str, _Piece | None, bytes]] = []
        for entries, ir in lowered.units:
            piece = self._known_piece(entries, ir)
            text = b""
            if piece is None:
                kept = None if self._store is None else self._store.get("ir", ir)
                if kept is None:
                    return False
                text = zlib.decompress(kept.blobs[0])
            found.append((entries, ir, piece, text))
        self._reads, self._count, self._lowered = lowered.reads, len(found), True
        self._left_out = lowered.left_out
        if lowered.said:
            self._said.append(lowered.said)
        self._steps.append(Step("lower", tuple(lowered.kernels), True))
        for number, (entries, ir, piece, text) in enumerate(found):
            self._units.append((entries, ir))
            if piece is not None:
                self._have(number, piece)
            else:
                self._generate(number, text, "option: it was not generated with these options before, or the cache has dropped it")
        self._go_on()
        return True

    def _lower(self) -> None:
        assert isinstance(self._job, CompileJob)
        order = {**self._job.lower_order(), "known": None if self._records is None else self._offer()}
        self._add(Task(self._job, "check", (), order, (), self._was_lowered, self._ended, self._told))

    def _offer(self) -> dict[str, str]:
        """What decided the kernels that were lowered before and whose code is there, by name: one that is decided by the same is kept."""
        if (
            not self._offers
            or not self._variants
            or self._variants[0].toolchain != toolchain_identity()
            or self._variants[0].python != python_identity()
        ):
            return {}
        before = self._variants[0]
        for entries, ir in before.units:
            (name, *others) = _names(entries)
            if not others and name in before.digests and self._has_code(entries, ir):
                self._offered[name] = entries, ir
        return {name: before.digests[name] for name in self._offered}

    def _told(self, message: Message) -> None:
        entries: Entries = message.body["entries"]
        self._count = message.body["count"]
        self._unit(entries, message.blobs[0], self._why[0] if len(self._why) == 1 else "; ".join(self._why))

    def _unit(self, entries: Entries, text: bytes, why: str) -> None:
        """One kernel is lowered."""
        number = len(self._units)
        ir = hashlib.sha256(text).hexdigest()
        self._units.append((entries, ir))
        piece = self._known_piece(entries, ir)
        if piece is not None:
            self._have(number, piece)
            self._go_on()
            return
        if self._store is not None:
            self._store.put("ir", ir, {}, [zlib.compress(text, 1)])
        self._generate(number, text, why)

    def _was_lowered(self, answer: Answer) -> None:
        assert isinstance(self._job, CompileJob)
        self._heard(answer.said)
        kernels = answer.body["kernels"]
        self._reads = answer.body["reads"]
        self._left_out = tuple(map(str, answer.body["left_out"]))
        names = tuple(str(kernel["name"]) for kernel in kernels)
        self._steps.append(Step("lower", names, False, answer.seconds, answer.body.get("phases", {}), "; ".join(self._why)))
        if self._job.check_only:
            self._finish(kernels_from_json(kernels, self._known))
            return
        first = len(self._units)
        self._units += [self._offered[name] for name in answer.body["kept"]]
        self._lowered = True
        if self._records is not None and self._reads["unknown"] is None and not self._failures:
            units, digests = tuple(self._units[number] for number in self._in_order()), answer.body["digests"]
            made = Lowered(self._reads, units, digests, self._left_out, answer.said, toolchain_identity(), python_identity())
            self._meanwhile(partial(self._records.keep, self._job, made, self._variants))
        self._open += 1
        self._meanwhile(partial(self._take_kept, range(first, len(self._units))))

    def _take_kept(self, numbers: range) -> None:
        """The code of kernels that were kept. Others may have dropped it from the cache since it was offered, or it is damaged."""
        self._open -= 1
        for number in numbers:
            piece = self._known_piece(*self._units[number])
            if piece is None:
                self._lost = True
            else:
                self._have(number, piece)
        self._go_on()

    # ---- IR to code ----

    def _known_piece(self, entries: Entries, ir: str) -> _Piece | None:
        kept = None if self._store is None else self._store.get("code", code_key(self._job, entries, ir))
        return None if kept is None else self._piece(entries, kept.body["facts"], kept.blobs[0])

    def _has_code(self, entries: Entries, ir: str) -> bool:
        return self._store is not None and self._store.has("code", code_key(self._job, entries, ir))

    def _piece(self, entries: Entries, facts: Mapping[str, Any], code: bytes) -> _Piece:
        """Hashed as soon as it is there, while others are being made; where they are only put together, their hashes are of no use."""
        key = "" if self._text else digest(encode({"entries": list(entries), "facts": dict(facts)}), code)
        return _Piece(entries, facts, code, key)

    def _have(self, number: int, piece: _Piece) -> None:
        self._pieces[number] = piece
        names = _names(piece.entries)
        if names not in self._compiled:
            self._steps.append(Step("code", names, True))

    def _generate(self, number: int, text: bytes, why: str) -> None:
        entries, ir = self._units[number]
        order = {
            "work": "code",
            "root": self._job.root_name,
            "kernels": list(entries),
            "target": self._job.target.name,
            "emit": sorted(self._job.emit),
            "whole": self._count == 1 and not self._text,
            **mode_order(self._job.mode),
        }

        def generated(answer: Answer) -> None:
            self._open -= 1
            self._heard(answer.said)
            piece = self._piece(entries, answer.body["piece"], answer.blobs[0])
            self._pieces[number] = piece
            self._steps.append(Step("code", _names(entries), False, answer.seconds, answer.body.get("phases", {}), why))
            if self._store is not None:
                self._store.put("code", code_key(self._job, entries, ir), {"facts": piece.facts}, [piece.code])
            if "blobs" in answer.body:
                self._whole = answer.body, answer.blobs[1:]
            self._go_on()

        def failed(kernels: tuple[str, ...], message: str, internal: bool, said: str) -> None:
            self._open -= 1
            self._heard(said)
            self._failures.append((kernels, message, internal))
            self._go_on()  # what the other kernels have to say is waited for

        self._open += 1
        self._add(Task(self._job, "codegen", _names(entries), order, [text], generated, failed))

    # ---- code to blobs ----

    def _go_on(self) -> None:
        """Join the pieces when all are there."""
        if not self._lowered or self._open or self._done:
            return
        if self._failures:
            self._fail()
            return
        if self._lost:
            self._offers, self._offered = False, {}
            done = [step for step in self._steps if not step.reused]
            self._compiled = {step.kernels for step in done if step.work == "code"}
            self._from_nothing()
            self._steps = done
            self._lower()
            return
        if self._text:
            self._put_together()
            return
        pieces = [self._pieces[number] for number in self._in_order()]
        key = None if self._store is None else blob_key(self._job, (piece.key for piece in pieces))
        if self._whole is not None:
            self._joined(key, *self._whole)
            return
        kept = None if self._store is None or key is None else self._store.get("blob", key)
        names = self._all_names()
        if kept is not None:
            self._steps.append(Step("join", names, True))
            self._made(kept.body, kept.body["made"], kept.blobs)
            return
        order = {
            "work": "join",
            "root": self._job.root_name,
            "target": self._job.target.name,
            "emit": sorted(self._job.emit),
            **mode_order(self._job.mode),
            "pieces": [{"kernels": list(piece.entries), **piece.facts} for piece in pieces],
        }

        def joined(answer: Answer) -> None:
            self._heard(answer.said)
            self._steps.append(Step("join", names, False, answer.seconds, answer.body.get("phases", {}), _NEW))
            self._joined(key, answer.body, answer.blobs)

        self._add(Task(self._job, "link", names, order, [piece.code for piece in pieces], joined, self._ended))

    def _put_together(self) -> None:
        """Join texts: it takes less time than to ask another process for it, or to look for the result in the cache."""
        began, names = time.monotonic(), self._all_names()
        given = (self._pieces[number] for number in self._in_order())
        pieces = tuple(Piece.of(kernels_from_json(piece.entries, self._known), piece.code, piece.facts) for piece in given)
        whole = Whole(pieces, self._job.target, self._job.emit)
        try:
            made = generated(whole, join_texts(whole))
        except InternalError as error:
            self._ended(names, f"{error}", True, "")
            return
        if len(pieces) > 1:
            seconds, reused = time.monotonic() - began, all(step.reused for step in self._steps)
            self._steps.append(Step("join", names, True) if reused else Step("join", names, False, seconds, {"link": seconds}, _NEW))
        blobs = tuple(CompiledBlob(blob.kind, blob.data, blob.version) for blob in made.blobs)
        self._finish(made.kernels, blobs, {str(kind): text for kind, text in made.listings.items()}, made.toolchain)

    def _in_order(self) -> list[int]:
        """The kernels' numbers in the order of the name table, whatever the order was in which they came."""
        return sorted(range(len(self._units)), key=lambda number: _names(self._units[number][0]))

    def _all_names(self) -> tuple[str, ...]:
        return tuple(name for number in self._in_order() for name in _names(self._units[number][0]))

    def _joined(self, key: str | None, body: Mapping[str, Any], blobs: tuple[bytes, ...]) -> None:
        if self._store is not None and key is not None:
            kept = {name: body[name] for name in ("kernels", "listings", "toolchain")}
            # The key `blobs` of a message is the wire's own.
            self._store.put("blob", key, {"made": body["blobs"], **kept}, blobs)
        self._made(body, body["blobs"], blobs)

    def _made(self, body: Mapping[str, Any], blobs: Sequence[Mapping[str, Any]], data: Sequence[bytes]) -> None:
        """The root's blobs are there, as a worker gave them."""
        made = tuple(CompiledBlob(blob["kind"], code, blob["version"]) for blob, code in zip(blobs, data, strict=True))
        self._finish(kernels_from_json(body["kernels"], self._known), made, body["listings"], body["toolchain"])

    # ---- outcomes ----

    def _heard(self, said: str) -> None:
        if said:
            self._said.append(said)

    def _ended(self, kernels: tuple[str, ...], message: str, internal: bool, said: str) -> None:
        """A task has failed without which nothing comes out."""
        self._heard(said)
        self._failures.append((kernels, message, internal))
        self._fail()

    def _fail(self) -> None:
        if self._done:
            return
        self._done = True
        messages = list(dict.fromkeys(message for _, message, _ in self._failures))
        kernels = tuple(dict.fromkeys(name for names, _, _ in self._failures for name in names))
        internal = any(internal for _, _, internal in self._failures)
        self._end(Failed(self._job, "\n".join(messages), kernels, internal, "".join(self._said), time.monotonic() - self._began))

    def _finish(
        self,
        kernels: tuple[KernelEntry, ...],
        blobs: tuple[CompiledBlob, ...] = (),
        listings: Mapping[str, str] = MappingProxyType({}),
        toolchain: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._done = True
        seconds = time.monotonic() - self._began
        said = "".join(self._said)
        steps = tuple(self._steps)
        ir = {name: digest for entries, digest in self._units for name in _names(entries)}
        self._end(
            Compiled(self._job, kernels, blobs, listings, self._reads, toolchain, self._left_out, said, seconds, steps, self._why, ir)
        )


def _names(entries: Entries) -> tuple[str, ...]:
    return tuple(str(entry["name"]) for entry in entries)

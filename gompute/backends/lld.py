"""LLVM's linker, as the ziglang package ships it: objects in, one shared object out, nothing on disk."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from gompute.backends.elf import ElfFile, MalformedElf
from gompute.errors import CompileError, InternalError

__all__ = ["installed", "link", "refuse_calls", "version", "version_of"]

_COMMON = ("-shared", "--no-undefined", "--build-id=none", "--hash-style=gnu")
# What names nothing that a loader needs. Line tables stay, where there are any.
_WITHOUT_LINES, _WITH_LINES = "--strip-all", "--discard-all"

# Made by the linker itself.
_PROVIDED = frozenset({"_GLOBAL_OFFSET_TABLE_"})

_SIGNATURE = re.compile(r"LLD (\d+(?:\.\d+)*)")


def link(objects: Sequence[bytes], options: Sequence[str], unit: str) -> bytes:
    """Link relocatable objects into a shared object.

    Args:
        objects: the object files, in the order in which their code is to lie.
        options: on top of those that every shared object here is linked with.
        unit: what is compiled, for messages.

    Raises:
        CompileError: the linker is not installed or was killed.
        InternalError: the linker refused the objects.
    """
    program = str(_program())
    held: list[int] = []
    try:
        for item in objects:
            held.append(os.memfd_create("object"))
            with open(held[-1], "wb", closefd=False) as file:
                file.write(item)
        # No name of a file on disk, which could reach the output or a message and would differ from build to build.
        inputs = [f"/proc/self/fd/{number}" for number in held]
        strip = _WITH_LINES if any(ElfFile.parse(item).section(".debug_line") for item in objects) else _WITHOUT_LINES
        command = [program, "ld.lld", *_COMMON, strip, *options, "-o", "-", *inputs]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env={}, check=False, pass_fds=held)
    finally:
        for number in held:
            os.close(number)
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode < 0:
        raise CompileError(f"{unit}: the linker was killed by signal {-done.returncode}; it said: {said or '(nothing)'}")
    if done.returncode:
        raise InternalError(f"{unit}: the linker refused the objects\n  {said}")
    return done.stdout


def refuse_calls(item: bytes, unit: str) -> None:
    """Raises:
    CompileError: the object file `item` needs a function of a library.
    InternalError: it cannot be read.
    """
    try:
        missing = {name: users for name, users in ElfFile.parse(item).undefined().items() if name not in _PROVIDED}
    except MalformedElf as error:
        raise InternalError(f"{unit}: LLVM wrote an object that cannot be read: {error}") from error
    if missing:
        calls = [f"  function {', '.join(f'`{user}`' for user in sorted(users))} calls `{name}`" for name, users in sorted(missing.items())]
        lines = "\n".join(calls)
        raise CompileError(
            f"{unit}: some operations have no instruction there, and LLVM turned them into calls of a library, "
            f"while a kernel may need nothing outside itself\n{lines}"
        )


def version_of(linked: bytes) -> str:
    """The linker's version, as it wrote it into what it linked."""
    elf = ElfFile.parse(linked)
    comment = elf.section(".comment")
    match = _SIGNATURE.search(elf.contents(comment).decode("ascii", "replace")) if comment is not None else None
    return match[1] if match is not None else version()


@lru_cache(maxsize=1)
def version() -> str:
    """The linker's version (`22.1.8`), by asking it.

    Raises:
        CompileError: it is not installed.
        InternalError: it does not say.
    """
    done = subprocess.run([str(_program()), "ld.lld", "--version"], capture_output=True, env={}, text=True, check=False)
    match = _SIGNATURE.search(done.stdout)
    if match is None:
        raise InternalError(f"the linker does not say its version: {done.stdout or done.stderr!r}")
    return match[1]


def installed() -> bool:
    """Whether there is a linker to run."""
    return _find() is not None


def _program() -> Path:
    program = _find()
    if program is None:
        raise CompileError(
            "linking needs the package ziglang, which is not installed.\n  Install the compiler: pip install 'gompute[compiler]'"
        )
    return program


def _find() -> Path | None:
    spec = find_spec("ziglang")
    places = (spec.submodule_search_locations or ()) if spec is not None else ()
    return next((program for place in places if (program := Path(place, "zig")).is_file()), None)

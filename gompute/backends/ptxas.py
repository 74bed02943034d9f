"""NVIDIA's assembler, from the nvidia-cuda-nvcc package: PTX in, cubin and resource counts out. No CUDA library is loaded for it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from gompute.artifacts.entry import Resources
from gompute.errors import CompileError, InternalError

__all__ = ["Assembled", "assemble", "installed", "parse_report", "version"]

_VERSION = re.compile(r"\bV(\d+(?:\.\d+)+)")
_ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']+)' for '[^']+'")
_FRAME = re.compile(r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads")
_USED = re.compile(r"Used (?P<registers>\d+) registers")
_SHARED = re.compile(r"(?P<shared>\d+) bytes smem")
_PROPERTIES = re.compile(r"Function properties for (?P<name>\S+)")


class Assembled(NamedTuple):
    """A cubin, and what each of its kernels costs, by symbol."""

    cubin: bytes
    resources: Mapping[str, Resources]


def assemble(ptx: bytes, arch: str, unit: str) -> Assembled:
    """Assemble PTX for one architecture.

    Args:
        arch: `sm_89`; ptxas drops old ones.
        unit: what is compiled, for messages.

    Raises:
        CompileError: ptxas is not installed, does not know `arch`, was killed, or found that a kernel needs more than the hardware has.
    """
    program = _program()
    # The PTX is standard input: a file's name would reach the messages. ptxas writes "-" to a file of that name, so the output is named.
    command = [str(program), "--verbose", f"--gpu-name={arch}", "/dev/stdin", "--output-file", "/dev/stdout"]
    if b"\n\t.loc\t" in ptx:
        command.append("--generate-line-info")
    held = os.memfd_create("ptx")
    try:
        with open(held, "wb", closefd=False) as file:
            file.write(ptx)
        os.lseek(held, 0, os.SEEK_SET)
        done = subprocess.run(command, stdin=held, capture_output=True, env={}, check=False)
    finally:
        os.close(held)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        how = f"was killed by signal {-done.returncode}" if done.returncode < 0 else "refused the PTX"
        words = "\n".join(f"  {line}" for line in said.strip().splitlines()) or "  (it printed nothing)"
        raise CompileError(f"{unit}: ptxas {version()} {how}\n{words}")
    return Assembled(done.stdout, parse_report(said))


def parse_report(said: str) -> dict[str, Resources]:
    """Resources by kernel from what `ptxas --verbose` prints.

    Raises:
        InternalError: it has another form than the one known.
    """
    found: dict[str, Resources] = {}
    name, current, frame = "", "", None
    for line in said.splitlines():
        if entry := _ENTRY.search(line):
            name, current, frame = entry["name"], "", None
        elif properties := _PROPERTIES.search(line):
            current = properties["name"]
        elif (match := _FRAME.search(line)) and current == name:
            frame = match
        elif used := _USED.search(line):
            if not name or frame is None:
                raise InternalError(f"ptxas reports resources in a form that is not known:\n{said}")
            shared = _SHARED.search(line)
            found[name] = Resources(
                registers=int(used["registers"]),
                shared=int(shared["shared"]) if shared else 0,
                private=int(frame["stack"]),
                spills=int(frame["stores"]),
            )
    return found


@lru_cache(maxsize=1)
def version() -> str:
    """The version of ptxas (`13.5.37`).

    Raises:
        CompileError: it is not installed.
        InternalError: it does not say.
    """
    done = subprocess.run([str(_program()), "--version"], capture_output=True, env={}, text=True, check=False)
    match = _VERSION.search(done.stdout)
    if match is None:
        raise InternalError(f"ptxas does not say its version: {done.stdout or done.stderr!r}")
    return match[1]


def installed() -> bool:
    """Whether there is a ptxas to run."""
    return _find() is not None


def _program() -> Path:
    program = _find()
    if program is None:
        raise CompileError(
            "a cubin needs ptxas, which is not installed.\n  Install it: pip install 'gompute[cubin]', or leave out the cubin and ship PTX"
        )
    return program


def _find() -> Path | None:
    # `nvidia` is a namespace that several packages share; the folder below it is named after CUDA's version (`cu13`) or the package
    # (`cuda_nvcc`).
    spec = find_spec("nvidia")
    places = (spec.submodule_search_locations or ()) if spec is not None else ()
    found = [program for place in places for program in sorted(Path(place).glob("cu*/bin/ptxas"))]
    return found[-1] if found else None

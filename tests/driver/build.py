"""Builds the C of these tests: the driver libraries, and CPU kernels as the compiler would make them."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SOURCES = Path(__file__).resolve().parent

#: What both vendors' libraries are made of.
SHARED = ("core.c", "metadata.c", "memory.c", "queue.c", "capture.c", "calls.c", "launch.c")

#: File name and SONAME of each vendor's library, its own source, and the word that it is compiled with.
LIBRARIES = {"cuda": ("libcuda.so.1", "cuda.c", "CUDA"), "hip": ("libamdhip64.so.7", "hip.c", "HIP")}


def compile_shared(sources: Sequence[Path], output: Path, cache: Path, *flags: str) -> Path:
    """Compiles C files to a shared object with the C compiler of the ziglang wheel.

    Args:
        cache: where zig keeps what it built before; without one of its own a test would fill the home folder.
    """
    # Named, since zig looks for the host's C library at places that not every host has (a sandbox of Nix), and then takes another.
    target = f"{platform.machine()}-linux-gnu"
    options = ["-target", target, "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    command = [sys.executable, "-m", "ziglang", "cc", *options, "-o", str(output), *flags]
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    done = subprocess.run([*command, *map(str, sources)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return output


def build_driver(vendor: str, folder: Path, cache: Path) -> Path:
    name, source, word = LIBRARIES[vendor]
    sources = [SOURCES / file for file in (*SHARED, source)]
    return compile_shared(sources, folder / name, cache, f"-D{word}", "-fvisibility=hidden", "-pthread", f"-Wl,-soname,{name}")


def build_kernels(source: Path, folder: Path, cache: Path) -> Path:
    # Code for the machine at hand: what is tested is who calls it, and with what.
    return compile_shared([source], folder / f"{source.stem}.so", cache, "-ffp-contract=off")

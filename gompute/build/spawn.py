"""Starting the zygote's process, and nothing more.

It needs about 0.2 s to load the compiler, while its caller loads the rest of itself. So this module imports next to nothing, and the
command line calls it before anything else.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib.machinery import PathFinder

from gompute.build.wire import pipe
from gompute.errors import BackendUnavailable

__all__ = ["COMPILER_PACKAGES", "WORKER", "compiler_folders", "spawn"]

WORKER = "gompute.build.worker"
# Of these NumPy is for the authors' modules, which may use it to make constant tables.
COMPILER_PACKAGES = ("gompute", "llvmlite", "ziglang", "nvidia", "numpy")

# `-P` and `-s` keep out the current folder and the user's packages, `-S` what .pth files add. Not `-I`: it ignores PYTHONHASHSEED too.
_FLAGS = ("-P", "-s", "-S", "-X", "utf8")
_ENVIRONMENT = {"PYTHONHASHSEED": "0"}
_BOOT = "import sys; sys.path += sys.argv[2:]; from gompute.build.serve import main; main()"


def compiler_folders() -> list[str]:
    """The folders that hold gompute and what the compiler needs, as far as it is installed; nothing is imported to find them."""
    found: dict[str, None] = {}
    for package in COMPILER_PACKAGES:
        spec = PathFinder.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec is not None else ():
            found.setdefault(os.path.dirname(os.path.abspath(place)))
    return list(found)


def spawn(worker: str = WORKER, folders: tuple[str, ...] = ()) -> tuple[int, int, int]:
    """Start the process and return at once.

    Args:
        worker: the module whose `compile_unit` its children run.
        folders: where to look for that module before the folders of the compiler.

    Returns:
        Its process id, the pipe to write orders to and the pipe to read reports from.

    Raises:
        BackendUnavailable: this interpreter does not know its own program (it is embedded in another).
    """
    if not sys.executable:
        raise BackendUnavailable(
            "the compiler runs in a Python process of its own, and this interpreter does not know its program (sys.executable is empty)"
        )
    orders, orders_end = pipe()
    reports, reports_end = pipe()
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, *_FLAGS, "-c", _BOOT, worker, *folders, *compiler_folders()],
            _ENVIRONMENT,
            file_actions=[(os.POSIX_SPAWN_DUP2, orders, 0), (os.POSIX_SPAWN_DUP2, reports_end, 1)],
            setpgroup=0,  # so that an interrupt from the terminal reaches the caller alone, who then ends this process in order
            setsigdef=[signal.SIGPIPE, signal.SIGINT],
        )
    except BaseException:
        os.close(orders_end)
        os.close(reports)
        raise
    finally:
        os.close(orders)
        os.close(reports_end)
    return pid, orders_end, reports

"""The command line: ``gompute`` and ``python -m gompute``.

Commands that compile start the compiler's process here, before anything else is imported: it takes as long to load as the rest of this
program, and the two load side by side.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

_COMPILING = {"build", "check", "demo"}
_ASKING = {"-h", "--help"}
_INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process and exit: 0 done, 1 the work failed, 2 wrong use."""
    spawned = None
    try:
        if sys.argv[1:2] and sys.argv[1] in _COMPILING and _ASKING.isdisjoint(sys.argv):
            from gompute.build.spawn import spawn

            spawned = spawn()
        from gompute.build.zygote import Zygote
        from gompute.cli.app import run

        code = run(sys.argv[1:], None if spawned is None else Zygote(spawned))
    except KeyboardInterrupt:
        code = _INTERRUPTED
    if spawned is None:
        sys.exit(code)
    # Python's own end takes 20 ms and has nothing left to do: `run` has flushed the output, and files are closed.
    os._exit(code)

"""The command line: ``gompute`` and ``python -m gompute``.

Commands that compile start the compiler's process here, before anything else is imported: it takes as long to load as the rest of this
program, and the two load side by side. A build that has nothing to compile needs none, and one that has nothing to write either is done
before the rest of the program is loaded.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gompute.cli.ahead import Past

__all__ = ["main"]

_COMPILING = {"build", "check", "demo", "ir"}
_ASKING = {"-h", "--help"}
_INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process and exit: 0 done, 1 the work failed, 2 wrong use."""
    spawned = None
    _open_streams()
    try:
        if sys.argv[1:2] and sys.argv[1] in _COMPILING and _ASKING.isdisjoint(sys.argv):
            known = _past()
            if known is not None and known.whole:
                _tell(known)
                os._exit(0)
            if known is None:
                from gompute.build.spawn import spawn

                spawned = spawn()
        from gompute.build.zygote import Zygote
        from gompute.cli.app import run

        code = run(sys.argv[1:], None if spawned is None else Zygote(spawned))
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except BrokenPipeError:
        code = 1  # the reader of our output has gone
    except OSError as error:
        print(f"error: the command line cannot start: {error}", file=sys.stderr)
        code = 1
    # Python's own end takes 20 ms and has nothing left to do: `run` has flushed the output, and files are closed.
    os._exit(code)


def _past() -> Past | None:
    """What is known of the command, where it is a build that has nothing to compile."""
    if sys.argv[1] != "build":
        return None
    from gompute.cli.ahead import past

    return past(sys.argv[1:])


def _tell(known: Past) -> None:
    for stream, text in ((sys.stderr, known.err), (sys.stdout, known.out)):
        stream.write(text)
        stream.flush()


def _open_streams() -> None:
    """Give a caller's closed standard streams (a daemon's, or ``2>&-``) a place: else the next file opened would become one of them."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))

"""The commands by name, and how each kind of failure leaves the program."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence

import click

from gompute.build.zygote import Zygote
from gompute.cli.invocation import Invocation
from gompute.cli.report import print_error
from gompute.errors import Error, InternalError

__all__ = ["DONE", "FAILED", "WRONG_USE", "run"]

DONE, FAILED, WRONG_USE = 0, 1, 2

_REPORT = "This is a bug in gompute. Please report it, with the text above and the source that brings it out."

# Command -> module of gompute.cli that defines it under the same name. A module is imported when its command runs, so that no command pays
# for another's imports.
_COMMANDS = {
    "build": "build",
    "cache": "cache",
    "check": "check",
    "demo": "demo",
    "doctor": "doctor",
    "inspect": "inspect",
    "ir": "ir",
    "manifest": "manifest",
    "merge": "merge",
    "run": "run",
    "targets": "targets",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(importlib.import_module(f"gompute.cli.{_COMMANDS[cmd_name]}"), f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        import gompute

        click.echo(f"gompute {gompute.__version__}")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, no_args_is_help=True)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version and exit.")
def _gompute() -> None:
    """Compile GPU kernels written in Python ahead of time, for pinned targets, into reproducible artifacts, and run them.

    \b
    Example:
      gompute build kernels.py --target sm_89 --target x86-64-v3 -o kernels
      gompute run kernels scale_relu in.npy -p scale=2 -o out.npy
    """


def run(arguments: Sequence[str], zygote: Zygote | None = None) -> int:
    """Run one command.

    Args:
        zygote: a compiler process that was started ahead; it is ended here, used or not.

    Returns:
        The exit code; all output is flushed.
    """
    try:
        code = _run(arguments, zygote)
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        # The reader of our output has gone (`gompute targets | head`): that is its right. Nothing more may be written, not at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    finally:
        if zygote is not None:
            zygote.close()
    return code


def _run(arguments: Sequence[str], zygote: Zygote | None) -> int:
    try:
        result = _gompute.main(list(arguments), prog_name="gompute", standalone_mode=False, obj=Invocation(tuple(arguments), zygote))
        return result if isinstance(result, int) else DONE
    except click.UsageError as error:
        error.show()
        return WRONG_USE
    except click.exceptions.Abort:
        return 128 + signal.SIGINT
    except click.ClickException as error:
        print_error(error.format_message())
        return FAILED
    except Error as error:
        print_error(str(error))
        return FAILED
    except BrokenPipeError:
        raise
    except OSError as error:
        print_error(str(error))
        return FAILED
    except InternalError as error:
        print_error(f"{error}\n\n{_REPORT}")
        return FAILED
    except Exception:
        print_error(f"{traceback.format_exc()}\n{_REPORT}")
        return FAILED

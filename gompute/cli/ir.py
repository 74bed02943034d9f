"""``gompute ir``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from gompute.artifacts.staging import replace_file
from gompute.build.ir_tool import IrForm, IrResult, run_ir_tool
from gompute.cli import options
from gompute.cli.report import print_note, table

__all__ = ["ir_command"]

_file = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_output = click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write here instead of to the screen.")
_module = click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the module here, as bitcode where the name ends with .bc, instead of as text to the screen.",
)
_map = click.option(
    "--map", "names", type=click.Path(dir_okay=False, path_type=Path), help="Write the map of names (public to symbol) here, as JSON."
)


@click.group("ir", no_args_is_help=True)
def ir_command() -> None:
    """Read LLVM IR of other compilers (.ll or .bc, for nvptx64 or amdgcn) and make it fit to build kernels from.

    \b
    Example:
      gompute ir kernels kernels.ll
      gompute ir rewrite kernels.ll -o fixed.ll --map names.json
      gompute ir prune kernels.bc --keep scale,add -o small.ll
    """


@ir_command.command("kernels")
@_file
@_output
@click.pass_context
def _kernels(ctx: click.Context, file: Path, output: Path | None) -> int:
    """List the kernels of FILE that can be launched, with the types of their arguments and the function that each is in FILE."""
    result = run_ir_tool(options.compiler(ctx), "kernels", file)
    rows = [(kernel["signature"], kernel["symbol"], kernel["function"]) for kernel in result.kernels]
    _write(f"{table(('kernel', 'symbol', 'function'), rows)}\n".encode(), output)
    return 0


@ir_command.command("rewrite")
@_file
@_module
@_map
@click.pass_context
def _rewrite(ctx: click.Context, file: Path, output: Path | None, names: Path | None) -> int:
    """Make every alias of a kernel in FILE a definition under the public name, and bring FILE to the pinned LLVM's target.

    A name that no assembler takes is replaced by a safe one; the map of names says by which. Aliases of other things stay.
    """
    result = run_ir_tool(options.compiler(ctx), "rewrite", file, form=_form(output))
    _deliver(file, result, output, names)
    return 0


@ir_command.command("prune")
@_file
@click.option("--keep", required=True, metavar="A,B", help="The kernels to keep, by public name, with commas between.")
@_module
@_map
@click.pass_context
def _prune(ctx: click.Context, file: Path, keep: str, output: Path | None, names: Path | None) -> int:
    """Rewrite FILE, and remove every kernel that is not kept, with all that only those needed."""
    wanted = list(dict.fromkeys(name for name in keep.split(",") if name))
    result = run_ir_tool(options.compiler(ctx), "prune", file, form=_form(output), keep=wanted)
    _deliver(file, result, output, names)
    return 0


@ir_command.command("map")
@_file
@_output
@click.pass_context
def _map_names(ctx: click.Context, file: Path, output: Path | None) -> int:
    """Print the map of names of FILE: the symbol of each public kernel after a rewrite, as JSON."""
    _write(_names_json(run_ir_tool(options.compiler(ctx), "kernels", file)), output)
    return 0


def _form(output: Path | None) -> IrForm:
    return "bitcode" if output is not None and output.suffix == ".bc" else "text"


def _deliver(file: Path, result: IrResult, output: Path | None, names: Path | None) -> None:
    for warning in result.warnings:
        print_note(f"warning: {file}: {warning}")
    _write(result.data, output)
    if names is not None:
        _write(_names_json(result), names)


def _names_json(result: IrResult) -> bytes:
    return (json.dumps(result.names, indent=1, sort_keys=True) + "\n").encode()


def _write(data: bytes, output: Path | None) -> None:
    if output is not None:
        replace_file(output, data)
    else:
        sys.stdout.write(data.decode())

"""``gompute run``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gompute.cli.params import params_from_text
from gompute.errors import BackendUnavailable, ContextFailed, Error, InitFailed, InvalidArgument, ModuleLoadFailed, NoDevice
from gompute.targets import KINDS

if TYPE_CHECKING:
    import numpy as np

    from gompute.artifacts.entry import KernelEntry
    from gompute.handles.kernel_set import KernelSet

__all__ = ["run_command"]

_BACKENDS = tuple(KINDS)


@click.command("run")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("kernel")
@click.argument("inputs", nargs=-1, required=True, metavar="IN.npy...", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--param", "-p", "params", multiple=True, metavar="FIELD=VALUE", help="A field of the kernel's params; a nested one by its dotted path."
)
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The .npy file to write.")
@click.option(
    "--backend", "-b", type=click.Choice(_BACKENDS), help="Where to run. Default: the first of cuda, hip and cpu that works here."
)
@click.option("--ordinal", type=click.IntRange(min=0), default=0, help="Which device of the backend.")
def run_command(
    directory: Path, kernel: str, inputs: Sequence[Path], params: Sequence[str], output: Path, backend: str | None, ordinal: int
) -> int:
    """Run one kernel of the kernel set in DIR on arrays in .npy files.

    They are what the operation reads, in its order. Where it writes to another array, that may be the last; a scatter needs it. A
    reduction writes its one value.

    \b
    Example:
      gompute run kernels scale_relu in.npy -p scale=2 -o out.npy --backend cpu
    """
    from gompute.handles.kernel_set import load

    kernels = load(directory)
    entry = kernels.entry(kernel)
    if entry.kind == "kernel":
        arguments = ", ".join(f"{argument.name}: {argument.dtype}" for argument in entry.arguments)
        raise InvalidArgument(
            f"{kernel} is a raw kernel: what it reads, writes and how it is launched only its caller knows. Launch it from Python:\n"
            f"  with g.load({str(directory)!r}).kernel_by_name({kernel!r}, 'cpu') as kernel:\n"
            f"      kernel.launch(grid, block, ...)  # {arguments}"
        )
    packed = params_from_text(entry, params)
    arrays = _arrays(entry, inputs)
    used, value = _run(kernels, kernel, (backend,) if backend else _BACKENDS, ordinal, arrays, packed)
    array = arrays[-1] if value is None else _stored(entry, value)
    _write(output, array)
    click.echo(f"{output}: {array.dtype} {'x'.join(map(str, array.shape)) or 'scalar'}, by {kernel} on {used}")
    return 0


def _arrays(entry: KernelEntry, files: Sequence[Path]) -> list[np.ndarray[Any, Any]]:
    """The arrays of the operation; its output is zeros where no file is given for it.

    Raises:
        InvalidArgument: not as many files as it has arrays to read.
    """
    import numpy as np

    from gompute.handles.generated import operands_of

    operands = [operand for operand in operands_of(entry) if not operand.use.scratch and not operand.use.single]
    *_, output = operands
    # Zeros have the shape of what goes with them element by element; how far a scatter reaches only its caller knows.
    spare = not output.use.bounded and len(operands) > 1
    if len(files) not in ((len(operands) - 1, len(operands)) if spare else (len(operands),)):
        names = ", ".join(operand.name for operand in operands[: -1 if spare else None])
        raise InvalidArgument(
            f"{entry.name} is a {entry.kind}: it takes {names}{f' and perhaps {output.name}' if spare else ''}, got {len(files)} files."
        )
    arrays = [_read(file) for file in files]
    if len(arrays) < len(operands):
        matching = next(array for operand, array in zip(operands, arrays, strict=False) if not operand.use.bounded)
        arrays.append(np.zeros(matching.shape, output.dtype))
    return arrays


def _run(
    kernels: KernelSet, kernel: str, backends: Sequence[str], ordinal: int, arrays: list[np.ndarray[Any, Any]], packed: bytes | None
) -> tuple[str, Any]:
    """Run a generated kernel on the first backend that has a device and code for it.

    Returns:
        The backend, and the value of a reduction.

    Raises:
        BackendUnavailable: there is none; says of each why not.
    """
    from gompute.handles.kernel import Kernel

    reasons = []
    for backend in backends:
        try:
            opened = kernels.kernel_by_name(kernel, backend, ordinal)
        except (BackendUnavailable, ContextFailed, InitFailed, ModuleLoadFailed, NoDevice) as error:
            if len(backends) == 1:
                raise
            reasons.append(f"{backend}: {error}")
            continue
        assert isinstance(opened, Kernel)
        with opened:
            return backend, opened.run(*arrays, *(() if packed is None else (packed,)))
    raise BackendUnavailable(f"no backend can run {kernel}:\n" + "\n".join(f"  {reason}" for reason in reasons))


def _stored(entry: KernelEntry, value: Any) -> np.ndarray[Any, Any]:
    """The value of a reduction as an array without dimensions; of bf16 its bits."""
    import numpy as np

    from gompute.handles.generated import operands_of
    from gompute.lang import abi
    from gompute.lang.types import SCALARS

    output = operands_of(entry)[-1]
    return np.frombuffer(abi.encode(value, SCALARS[output.element], "out"), output.dtype).reshape(())


def _read(file: Path) -> np.ndarray[Any, Any]:
    import numpy as np

    try:
        array = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InvalidArgument(f"{file}: not a .npy file of numbers: {error}") from None
    if not isinstance(array, np.ndarray):
        raise InvalidArgument(f"{file}: holds several arrays (.npz); one array (.npy) is wanted.")
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def _write(file: Path, array: np.ndarray[Any, Any]) -> None:
    import numpy as np

    try:
        with open(file, "wb") as opened:
            np.save(opened, array, allow_pickle=False)
    except OSError as error:
        raise Error(f"{file}: cannot be written: {error.strerror}") from None

"""``gompute demo``: the whole way on one photograph."""

from __future__ import annotations

import importlib.util
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

import gompute
from gompute.artifacts.destination import SetFolder
from gompute.build.kernel_set import BuildRequest, build_set
from gompute.build.roots import roots_from_files
from gompute.cli import options
from gompute.cli.failures import print_failures
from gompute.cli.photograph import read_photograph, write_png
from gompute.cli.progress import progress
from gompute.cli.report import print_error
from gompute.errors import InternalError
from gompute.targets import Target, parse_target

if TYPE_CHECKING:
    import numpy as np

    Pixels = np.ndarray[Any, Any]

__all__ = ["demo_command"]

_TARGETS = ("sm_75", "sm_89", "sm_90", "gfx942", "gfx1100", "x86-64-v3")
_EXPOSURE, _CONTRAST = 0.0625, 1.5
_BLOCK = 16


@click.command("demo")
@click.argument("image", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--output",
    "-o",
    default="gompute-demo.png",
    show_default=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The PNG file to write.",
)
@options.jobs
@click.pass_context
def demo_command(ctx: click.Context, image: Path | None, output: Path, jobs: int) -> int:
    """Compile the example for six targets and run it on a photograph.

    The kernels are those of checks/example/photo.py: a tone curve (a map) and a blur (a kernel of its own). They run on the first of CUDA,
    HIP and CPU that works here, and what they computed is compared, bit for bit, with the same arithmetic in NumPy. IMAGE is a photograph
    of yours; without one, a photograph in the public domain is used.

    \b
    Example:
      gompute demo
      gompute demo holiday.jpg -o softer.png
    """
    pixels, name = read_photograph(image)
    with tempfile.TemporaryDirectory(prefix="gompute-demo-") as folder:
        source = _example()
        kernels = Path(folder, "kernels")
        began = time.perf_counter()
        with progress() as reporter:
            request = BuildRequest(roots_from_files([source]), _targets(), SetFolder(kernels), frozenset({"ptx"}), jobs)
            report = build_set(request, options.compiler(ctx), reporter, generator={"gompute": gompute.__version__})
        print_failures(report.failed)
        if not report.complete:
            return 1
        click.echo(f"Compiled {source.name} for {len(request.targets)} targets in {time.perf_counter() - began:.2f} s.")
        height, width, channels = pixels.shape
        click.echo(f"Photograph: {name}, {width} x {height}, {'grey' if channels == 1 else 'colour'}.")
        toned, softened = _run(_module(source), kernels, pixels)
    same = [_compare("tone", toned, _numpy_tone(pixels)), _compare("soften", softened, _numpy_soften(toned))]
    write_png(output, softened)
    click.echo(f"Wrote {output}.")
    return 0 if all(same) else 1


def _targets() -> tuple[Target, ...]:
    names = (*_TARGETS, "aarch64") if platform.machine() in ("aarch64", "arm64") else _TARGETS
    return tuple(parse_target(name) for name in names)


def _example() -> Path:
    """The example's source: in the package when gompute is installed from a wheel, in the checkout otherwise."""
    package = Path(gompute.__file__).parent
    for place in (package / "example", package.parent / "checks" / "example"):
        if (place / "photo.py").is_file():
            return place / "photo.py"
    raise InternalError("this installation lacks the example, gompute/example/photo.py")


def _module(source: Path) -> ModuleType:
    """The example as plain Python, as a program that runs kernels imports it."""
    spec = importlib.util.spec_from_file_location(source.stem, source)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(example: ModuleType, kernels: Path, pixels: Pixels) -> tuple[Pixels, Pixels]:
    """Run both kernels; the first call of each, which loads the code, is not timed.

    Returns:
        The photograph after the tone curve, and after tone curve and blur.
    """
    import numpy as np

    params = example.Tone(exposure=_EXPOSURE, contrast=_CONTRAST)
    with gompute.AutoKernel(example.tone, kernels=kernels) as tone:
        backend = tone.backend
        tone.run(pixels.copy(), params)
        toned = pixels.copy()
        seconds = _timed(lambda: tone.run(toned, params))
        click.echo(f"tone ran on {backend} in {seconds * 1e3:.2f} ms, copies included.")
    height, width, channels = pixels.shape
    softened = np.empty_like(toned)
    grid = (-(-width // _BLOCK), -(-height // _BLOCK))
    with gompute.RawKernel(example.soften, backend, kernels=kernels) as soften:
        with soften.alloc(toned.nbytes) as image, soften.alloc(toned.nbytes) as out:
            image.upload(toned)

            def launch() -> None:
                soften.launch(grid, (_BLOCK, _BLOCK), image, out, width, height, channels)
                soften.synchronize()

            launch()
            seconds = _timed(launch)
            out.download(softened)
        click.echo(f"soften ran on {backend} in {seconds * 1e3:.2f} ms.")
    return toned, softened


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _numpy_tone(pixels: Pixels) -> Pixels:
    import numpy as np

    f32 = np.float32
    toned = (pixels - f32(0.5)) * f32(_CONTRAST) + f32(0.5) + f32(_EXPOSURE)
    clamped: Pixels = np.minimum(np.maximum(toned, f32(0)), f32(1))
    return clamped


def _numpy_soften(pixels: Pixels) -> Pixels:
    """The same sums in the same order: f32 addition is exact to the bit only then."""
    import numpy as np

    height, width, _ = pixels.shape
    padded = np.pad(pixels, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows = padded[:, :width] + padded[:, 1 : width + 1] + padded[:, 2 : width + 2]
    mean: Pixels = (rows[:height] + rows[1 : height + 1] + rows[2 : height + 2]) * np.float32(1 / 9)
    return mean


def _compare(kernel: str, got: Pixels, wanted: Pixels) -> bool:
    """Say whether two f32 arrays are the same to the last bit."""
    import numpy as np

    differing = int(np.count_nonzero(got.view(np.uint32) != wanted.view(np.uint32)))
    if differing:
        largest = float(np.max(np.abs(got.astype(np.float64) - wanted)))
        print_error(f"{kernel}: {differing} of {got.size} numbers differ from NumPy's, by up to {largest:g}.")
        return False
    click.echo(f"{kernel}: all {got.size} numbers equal NumPy's, bit for bit.")
    return True

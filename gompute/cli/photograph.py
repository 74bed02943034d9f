"""Photographs for the demo: a file of the user's, or one that an installed package ships; to and from arrays."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gompute.errors import Error, InvalidArgument

if TYPE_CHECKING:
    import numpy as np

__all__ = ["read_photograph", "write_png"]

_INSTALL = "Install what the demo needs: pip install 'gompute[demo]'"


def read_photograph(file: Path | None) -> tuple[np.ndarray[Any, Any], str]:
    """A photograph as f32 from 0 to 1, of shape (height, width, channels) with 1 channel or 3, and what to call it.

    Without a file it is "ascent", 512 by 512 grey pixels derived from a photograph in the public domain, which PyWavelets ships.

    Raises:
        InvalidArgument: the file is no image.
        Error: a package that is needed is not installed.
    """
    import numpy as np

    if file is None:
        spec = find_spec("pywt")
        shipped = [Path(place, "data", "ascent.npz") for place in (spec.submodule_search_locations or ())] if spec is not None else []
        found = next((path for path in shipped if path.is_file()), None)
        if found is None:
            raise Error(
                f"the demo's photograph comes with PyWavelets, which is not installed.\n  {_INSTALL}, or name an image of your own."
            )
        with np.load(found, allow_pickle=False) as archive:
            pixels = archive["data"]
        name = "ascent (public domain, from PyWavelets)"
    else:
        pixels, name = _decode(file), str(file)
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    return np.ascontiguousarray(pixels.astype(np.float32) / np.float32(255)), name


def write_png(file: Path, pixels: np.ndarray[Any, Any]) -> None:
    """Write f32 pixels from 0 to 1 as a PNG file.

    Raises:
        Error: the file cannot be written.
    """
    import numpy as np

    image = _pillow()
    levels = np.rint(pixels * np.float32(255)).astype(np.uint8)
    try:
        image.fromarray(levels[:, :, 0] if levels.shape[2] == 1 else levels).save(file, format="PNG")
    except OSError as error:
        raise Error(f"{file}: cannot be written: {error.strerror or error}") from None


def _decode(file: Path) -> np.ndarray[Any, Any]:
    import numpy as np

    image = _pillow()
    from PIL import ImageOps

    try:
        with image.open(file) as opened:
            upright = ImageOps.exif_transpose(opened)
            return np.asarray(upright.convert("L" if upright.mode in ("1", "L", "LA", "I", "I;16", "F") else "RGB"))
    except (OSError, ValueError, image.DecompressionBombError) as error:
        raise InvalidArgument(f"{file}: not an image that Pillow reads: {error}") from None


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise Error(f"the demo reads and writes images with Pillow, which is not installed.\n  {_INSTALL}") from None
    return Image

"""What `gompute demo` runs on a photograph: a tone curve, written as a map, and a blur, written as a kernel with its own indices."""

import gompute as g
from gompute import f32, u64

NINTH = 1 / 9


@g.params
class Tone:
    exposure: f32
    contrast: f32


@g.map
def tone(x: f32, p: Tone) -> f32:
    """Brightness and contrast of one value in 0 to 1."""
    y = (x - 0.5) * p.contrast + 0.5 + p.exposure
    return min(max(y, 0.0), 1.0)


@g.kernel(block_size=(16, 16))
def soften(image: g.ptr[f32], out: g.ptr[f32], width: u64, height: u64, channels: u64):
    """The mean of 3 by 3 pixels, one work-item per pixel; the border's pixels are repeated outside."""
    x = g.global_id(0)
    y = g.global_id(1)
    if x < width and y < height:
        left = x - 1 if x > 0 else x
        right = x + 1 if x + 1 < width else x
        above = y - 1 if y > 0 else y
        below = y + 1 if y + 1 < height else y
        for c in range(channels):
            total = row(image, above * width, left, x, right, channels, c)
            total += row(image, y * width, left, x, right, channels, c)
            total += row(image, below * width, left, x, right, channels, c)
            out[(y * width + x) * channels + c] = total * NINTH


def row(image: g.ptr[f32], start: u64, left: u64, middle: u64, right: u64, channels: u64, c: u64) -> f32:
    """The sum of three neighbours in one row and channel."""
    total = image[(start + left) * channels + c] + image[(start + middle) * channels + c]
    return total + image[(start + right) * channels + c]

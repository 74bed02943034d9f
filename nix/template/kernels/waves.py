"""One kernel root: a triangle wave."""

from shared import clamp

import gompute as g
from gompute import f32


@g.params
class Wave:
    height: f32


@g.map
def triangle(x: f32, p: Wave) -> f32:
    return clamp(abs(x), 0.0, 1.0) * p.height

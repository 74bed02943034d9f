"""The kernel of the benches: the same loop as scale_relu.c and scale_relu.cu."""

import gompute as g
from gompute import f32


@g.params
class Params:
    scale: f32


@g.map(block_size=256)
def scale_relu(x: f32, p: Params) -> f32:
    y = x * p.scale
    return y if y > 0 else 0.0

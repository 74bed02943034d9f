"""A raw kernel whose launch is timed by launch_cost.py."""

import gompute as g
from gompute import f32, u64


@g.kernel(block_size=256)
def scale_raw(data: g.ptr[f32], n: u64, scale: f32) -> None:
    i = g.global_id(0)
    if i < n:
        data[i] *= scale

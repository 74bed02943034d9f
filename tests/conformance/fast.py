"""A root of kernels that take the hardware's approximations, and of the same ones that do not."""

from typing import Any

import gompute as g
from gompute import f16, f32, f64, ptr, u64

NAMES = ("exp", "exp2", "log", "log2", "log10", "sqrt", "rsqrt", "sin", "cos", "tanh")


def both(name: str) -> tuple[Any, Any]:
    function = getattr(g.math, name)

    def apply(x: f32) -> f32:
        return function(x)

    return g.map_to(name=f"fast_{name}", fast=True)(apply), g.map_to(name=f"right_{name}")(apply)


KERNELS = [both(name) for name in NAMES]


def weight(x: f32, far: f32) -> f32:
    return g.math.exp(-x * x) if x > far else g.math.sin(x) + g.math.exp(0.5)


@g.kernel(fast=True)
def fast_raw(data: ptr[f32], wide: ptr[f64], half: ptr[f16], n: u64) -> None:
    """Of f64 and f16, and of functions that no hardware has, the bodies are the same as ever."""
    i = g.global_id(0)
    if i < n:
        data[i] = weight(data[i], 1.0) + g.math.cbrt(data[i])
        wide[i] = g.math.exp(wide[i])
        half[i] = g.math.exp(half[i])


@g.zip
def right_zip(x: f32, y: f32) -> f32:
    return weight(x, y)


def softened(x: f32) -> f32:
    return g.math.exp(x)


total = g.sum("fast_total", f32, pre=softened, fast=True)
chain = g.fused("fast_chain", softened, softened, fast=True)

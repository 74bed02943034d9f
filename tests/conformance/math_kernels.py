"""A second conformance root: every function of `gompute.math`, for the types that it has bodies for and, of two, for f16."""

import gompute as g
from gompute import f16, f32, f64
from gompute.lang.math_function import NAMES

KINDS = (f32, f64)


def kernel_of(name, kind):
    function = getattr(g.math, name)

    def one(x: kind) -> kind:
        return function(x)

    def two(x: kind, y: kind) -> kind:
        return function(x, y)

    def three(x: kind, y: kind, z: kind) -> kind:
        return function(x, y, z)

    declare = g.map_to if function.arity == 1 else g.zip
    return declare(name=f"{name}_{kind}")((one, two, three)[function.arity - 1])


KERNELS = [*(kernel_of(name, kind) for name in NAMES for kind in KINDS), kernel_of("exp", f16), kernel_of("atan2", f16)]

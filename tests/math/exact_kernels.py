"""A root of kernels over the exact functions, on the bits of each float type."""

import gompute as g
from gompute import bf16, f16, f32, f64, u16, u32, u64

ONE = (g.math.sqrt, g.math.floor, g.math.ceil, g.math.trunc, g.math.round)
TWO = (g.math.copysign, g.math.fmod)
BITS = ((f16, u16), (bf16, u16), (f32, u32), (f64, u64))


def on_bits(function, kind, bits):
    def one(x: bits) -> bits:
        return g.bitcast(function(g.bitcast(x, kind)), bits)

    def two(x: bits, y: bits) -> bits:
        return g.bitcast(function(g.bitcast(x, kind), g.bitcast(y, kind)), bits)

    def three(x: bits, y: bits, z: bits) -> bits:
        return g.bitcast(function(g.bitcast(x, kind), g.bitcast(y, kind), g.bitcast(z, kind)), bits)

    name = f"{function.__name__}_{kind}"
    return g.map_to(name=name)(one) if function.arity == 1 else g.zip(name=name)(two if function.arity == 2 else three)


KERNELS = [on_bits(function, *kinds) for function in (*ONE, *TWO, g.math.fma) for kinds in BITS]

"""Bodies for f32, and for f16 and bf16 through them: device functions from f64 to f64 in modules by family.

`BODIES` says where each is. A body's arguments are values of f32; what it returns is within about 2**-54 of the true value, relative, or
rounded to odd, so that rounding it once to the narrower type rounds correctly: the exhaustive runs of ``checks/math`` hold that.
"""

BODIES: dict[str, str] = {
    "exp": "gompute.math.f32.exponential:exp",
}

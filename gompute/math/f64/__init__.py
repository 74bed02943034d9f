"""Bodies for f64: device functions in modules by family. `BODIES` says where each is, as ``module:function``."""

_FAMILIES = {
    "exponential": "exp exp2 expm1 sinh cosh tanh",
    "logarithm": "log log2 log10 log1p",
    "power": "pow",
    "circular": "sin cos tan",
    "inverse": "asin acos atan atan2",
    "roots": "rsqrt cbrt hypot",
    "error": "erf erfc",
}

BODIES: dict[str, str] = {name: f"{__name__}.{family}:{name}" for family, names in _FAMILIES.items() for name in names.split()}

#: What is promised, in units of the last place: the distance from the true value at most, which is 0.5 for a correctly rounded result.
BOUNDS: dict[str, float] = {
    **dict.fromkeys(BODIES, 0.55),
    **dict.fromkeys(("exp", "exp2", "log", "log2", "log10", "pow"), 0.51),
    "rsqrt": 0.5,
}

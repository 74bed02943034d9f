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

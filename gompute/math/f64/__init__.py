"""Bodies for f64: device functions in modules by family. `BODIES` says where each is, as ``module:function``."""

BODIES: dict[str, str] = {}

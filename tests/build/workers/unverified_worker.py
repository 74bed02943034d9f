"""The real worker with the verifier switched off. The IR of a root whose name starts with `aliased` gets an alias to its first kernel,
over which LLVM ends the process."""

from __future__ import annotations

from dataclasses import replace

from gompute.backends import pipeline
from gompute.build import worker
from gompute.ir.outline import outline

_compile_root = worker.frontend.compile_root


def _with_alias(source, *, name, imports, target, kernels):
    root = _compile_root(source, name=name, imports=imports, target=target, kernels=kernels)
    if not name.startswith("aliased"):
        return root
    return replace(root, ir=f"{root.ir}\n@other_name = alias void (), ptr @{root.kernels[0].symbol}\n")


worker.frontend.compile_root = _with_alias
pipeline.verify = lambda module, *_: outline(str(module))
compile_unit = worker.compile_unit

"""Running a function of an LLVM module on this processor."""

from __future__ import annotations

import ctypes
from contextlib import closing
from typing import Any

from llvmlite import binding as llvm

from gompute.backends import cpu
from gompute.backends.pipeline import prepare
from gompute.targets import parse_target

__all__ = ["run"]


def run(ir: str, kind: type[ctypes.c_uint64 | ctypes.c_double | ctypes.c_float], value: float) -> Any:
    """What the function `f` of a module gives for a value, both of that type."""
    prepare(["cpu"])
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    with closing(llvm.parse_assembly(ir)) as module:
        module.verify()
        with llvm.create_mcjit_compiler(module.clone(), cpu.machine(parse_target("x86-64-v3"))) as engine:
            return ctypes.CFUNCTYPE(kind, kind)(engine.get_function_address("f"))(value)

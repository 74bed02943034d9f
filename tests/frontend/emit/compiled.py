"""Emitted modules through LLVM: run in this process, or turned into assembly for any target."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Sequence

import numpy as np
from llvmlite import binding as llvm

from gompute.frontend import typed
from gompute.frontend.emit import emit
from gompute.targets import Target, parse_target

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()

CPU = parse_target({"x86_64": "x86-64-v3", "aarch64": "aarch64"}[platform.machine()])


def machine(target: Target, *, jit: bool = False) -> llvm.TargetMachine:
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu,
        features=target.features,
        opt=3,
        reloc="default" if jit else "pic",
        codemodel="jitdefault" if jit else "default",
        jit=jit,
    )


def parse(ir: str) -> llvm.ModuleRef:
    parsed = llvm.parse_assembly(ir)
    parsed.verify()
    return parsed


def optimise(parsed: llvm.ModuleRef, target_machine: llvm.TargetMachine, level: int = 3) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    cpu = "nvptx" not in target_machine.triple and "amdgcn" not in target_machine.triple
    options.loop_vectorization = options.loop_interleaving = options.slp_vectorization = cpu
    builder = llvm.create_pass_builder(target_machine, options)
    builder.getModulePassManager().run(parsed, builder)


def assembly(module: typed.Module, target: Target) -> tuple[str, str]:
    """Optimised IR and assembly text for `target`."""
    parsed, target_machine = parse(emit(module, target)), machine(target)
    optimise(parsed, target_machine)
    return str(parsed), target_machine.emit_assembly(parsed)


class Loaded:
    """A module compiled for this machine."""

    def __init__(self, module: typed.Module, level: int = 3) -> None:
        parsed, target_machine = parse(emit(module, CPU)), machine(CPU, jit=True)
        optimise(parsed, target_machine, level)
        self._engine = llvm.create_mcjit_compiler(parsed, target_machine)
        self._engine.finalize_object()

    def run(
        self,
        name: str,
        *arguments: np.ndarray | np.generic | bytes,
        grid: Sequence[int] = (1, 1, 1),
        block: Sequence[int] = (1, 1, 1),
        begin: int = 0,
        end: int = 2**64 - 1,
    ) -> None:
        """Call a kernel. An array is a pointer argument, a NumPy scalar or bytes an argument by value."""
        kept: list[object] = []
        addresses = []
        for argument in arguments:
            holder: object
            if isinstance(argument, np.ndarray):
                holder = ctypes.c_void_p(argument.ctypes.data)
            else:
                raw = argument if isinstance(argument, bytes) else argument.tobytes()
                holder = (ctypes.c_uint64 * (len(raw) // 8 + 1))()  # aligned for any scalar
                ctypes.memmove(holder, raw, len(raw))
            kept.append(holder)
            addresses.append(ctypes.addressof(holder))
        table = (ctypes.c_void_p * len(addresses))(*addresses)
        launch = (ctypes.c_uint64 * 10)(*grid, *block, 0, 0, 0, 0)
        entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
        entry(self._engine.get_function_address(name))(ctypes.addressof(table), ctypes.addressof(launch), begin, end)

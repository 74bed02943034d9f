"""The limits of a target that LLVM does not keep by itself: launch arguments, static shared memory, work-items per block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from llvmlite import binding as llvm

from gompute.artifacts.entry import KernelEntry
from gompute.errors import CompileError
from gompute.ir.outline import ModuleOutline
from gompute.ir.verify import SHARED_SPACE

if TYPE_CHECKING:
    from gompute.targets import Target

__all__ = ["argument_offsets", "check_limits", "static_shared"]


def argument_offsets(kernel: KernelEntry) -> tuple[tuple[int, ...], int]:
    """Where each argument lies in the launch's argument segment, in bytes, and the segment's end."""
    offsets: list[int] = []
    end = 0
    for argument in kernel.passed:
        end += -end % argument.align
        offsets.append(end)
        end += argument.size
    return tuple(offsets), end


def static_shared(module: llvm.ModuleRef, shape: ModuleOutline, data: llvm.TargetData, kernels: Sequence[KernelEntry]) -> dict[str, int]:
    """Bytes of static shared memory that each kernel, by symbol, declares itself or through the functions that it calls."""
    # By iteration: the binding's look-up by name passes over internal variables.
    sizes = {
        variable.name: int(data.get_abi_size(variable.global_value_type))
        for variable in module.global_variables
        if shape.variables[variable.name].address_space == SHARED_SPACE
    }
    if not sizes:
        return {kernel.symbol: 0 for kernel in kernels}
    return {kernel.symbol: sum(sizes[name] for name in shape.reached_from(kernel.symbol) if name in sizes) for kernel in kernels}


def check_limits(kernels: Sequence[KernelEntry], shared: Mapping[str, int], target: Target) -> None:
    """Hold every kernel against its target.

    Raises:
        CompileError: naming every kernel that goes beyond a limit, the limit and the value.
    """
    found: list[str] = []
    for kernel in kernels:
        size = argument_offsets(kernel)[1]
        if target.max_params is not None and size > target.max_params:
            largest = max(kernel.arguments, key=lambda argument: argument.size)
            found.append(
                f"kernel `{kernel.name}`: its arguments take {size} bytes, and {target.name} passes at most {target.max_params} "
                f"(the largest is `{largest.name}`, {largest.size} bytes); pass a pointer to what is large"
            )
        used = shared[kernel.symbol]
        if used > target.max_static_shared:
            found.append(
                f"kernel `{kernel.name}`: it declares {used} bytes of static shared memory, and {target.name} has at most "
                f"{target.max_static_shared}; use smaller shared arrays"
            )
        x, y, z = kernel.block_size
        if x * y * z > target.max_block:
            found.append(
                f"kernel `{kernel.name}`: its block of {x} x {y} x {z} has {x * y * z} work-items, and {target.name} runs at most "
                f"{target.max_block}; use a smaller block_size"
            )
    if found:
        number = "1 limit" if len(found) == 1 else f"{len(found)} limits"
        lines = "\n".join(f"  {line}" for line in found)
        raise CompileError(f"{number} of {target.name} exceeded\n{lines}")

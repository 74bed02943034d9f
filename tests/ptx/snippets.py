"""Small kernels around an instruction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.ptx.machine import Machine
from tests.ptx.memory import GlobalMemory
from tests.ptx.parse import parse
from tests.ptx.syntax import KINDS

Array = np.ndarray[Any, Any]

HEAD = ".version 8.7\n.target sm_120\n.address_size 64\n"


def module(body: str, *, pointers: int = 1, before: str = "", inside: str = "") -> str:
    """A kernel ``k`` with pointers as parameters. %rd0 is the thread's number in the grid of one dimension, %a0, %a1, ... the pointers."""
    parameters = ", ".join(f".param .u64 .ptr .global .align 8 k_param_{i}" for i in range(pointers))
    loads = "\n".join(f"ld.param.b64 %a{i}, [k_param_{i}];" for i in range(pointers))
    return f"""{HEAD}{before}
.visible .entry k({parameters}) .maxntid 1024
{{
.reg .pred %p<20>; .reg .b16 %rs<20>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .b64 %a<{max(pointers, 1)}>;
{inside}
{loads}
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
mad.lo.s32 %r3, %r0, %r1, %r2;
cvt.u64.u32 %rd0, %r3;
{body}
ret;
}}
"""


def launch(text: str, arrays: Sequence[Array], grid: int = 1, block: int = 1, shared: int = 0) -> None:
    memory = GlobalMemory()
    arguments = [memory.add_array(array).to_bytes(8, "little") for array in arrays]
    Machine(parse(text), memory).launch("k", (grid, 1, 1), (block, 1, 1), arguments, shared)


def _register(name: str) -> str:
    width = KINDS[name].width
    return {1: "%p", 8: "%rs", 16: "%rs", 32: "%r", 64: "%rd"}[width]


def evaluate(instruction: str, result: str, sources: Sequence[str], *values: Array) -> Array:
    """``instruction d, a, b, ...`` for each element of arrays; the types are those of the operands' memory.

    Predicates are bytes in memory.
    """
    count = values[0].size
    arrays = [np.ascontiguousarray(value).view(f"u{KINDS[kind].size or 1}") for kind, value in zip(sources, values, strict=True)]
    lines, names = [f"setp.ge.u64 %p0, %rd0, {count};", "@%p0 exit;"], []
    for i, kind in enumerate(sources):
        name, size = f"{_register(kind)}{10 + i}", KINDS[kind].size or 1
        lines.append(f"mad.lo.s64 %rd30, %rd0, {size}, %a{i};")
        if kind == "pred":
            lines += ["ld.global.u8 %rs19, [%rd30];", f"setp.ne.s16 {name}, %rs19, 0;"]
        else:
            lines.append(f"ld.global.b{8 * size} {name}, [%rd30];")
        names.append(name)
    target, size = f"{_register(result)}9", KINDS[result].size or 1
    lines.append(f"{instruction} {', '.join([target, *names])};")
    lines.append(f"mad.lo.s64 %rd30, %rd0, {size}, %a{len(sources)};")
    if result == "pred":
        lines.append(f"selp.u16 %rs19, 1, 0, {target};\nst.global.u8 [%rd30], %rs19;")
    else:
        lines.append(f"st.global.b{8 * size} [%rd30], {target};")
    out = np.zeros(count, f"u{size}")
    launch(module("\n".join(lines), pointers=len(sources) + 1), [*arrays, out], -(-count // 128), 128)
    return out

"""Cutting very long basic blocks, which straight-line models of tens of thousands of operations have.

Some passes of LLVM's code generators take time with the square of a block's length (on AMD the sinking of free operands and the moves of
the machine scheduler: 50,000 operations took 54 s for what takes 4 s in pieces and without the scheduler). A block that is cut goes on in
the next piece by a jump that falls through, so the code stays what it was but for where the scheduler may move it.
"""

from __future__ import annotations

import re

from llvmlite import binding as llvm

__all__ = ["LABEL", "LEVELS", "LONGEST", "cut", "set_options"]

LONGEST = 4096
"""Lines of LLVM IR in a block that is left as it is; pieces of a longer one have half as many."""

# Without the first LLVM would put the pieces together again. The schedulers and combiners of machine code, and what shares and moves its
# expressions, take time with the square of a function's length (on AMD a register that 10,000 places share takes the coalescer longer than
# all the rest); what they gain is lost on a model that has no loop to hide memory behind, and whose expressions were shared in the IR.
_OPTIONS = {
    "cuda": ("-disable-cgp-branch-opts",),
    "hip": (
        "-disable-cgp-branch-opts",
        "-amdgpu-scalar-ir-passes=0",
        "-disable-machine-cse",
        "-enable-misched=0",
        "-enable-post-misched=0",
    ),
    "cpu": ("-disable-cgp-branch-opts", "-disable-machine-cse", "-disable-machine-sink", "-enable-misched=0", "-x86-machine-combiner=0"),
}

LEVELS = {"cuda": 0, "hip": 3, "cpu": 3}
"""LLVM's level of optimisation at which the code of such a module is generated. What NVIDIA's code generator does beyond that takes time
with the square of a function's length, for PTX that differs in a handful of instructions, which ptxas assigns the same registers to."""

_PIECE = LONGEST // 2
LABEL = re.compile(r'^("(?:[^"\\]|\\.)*"|[\w.$-]+):')
"""The line that a block begins with, as LLVM prints it."""
_INCOMING = re.compile(r'%("(?:[^"\\]|\\.)*"|[\w.$-]+) \]')


def set_options(backend: str) -> None:
    """Set the options of LLVM that a module with a very long function is generated with. They hold for the rest of the process, which
    must compile nothing else."""
    for option in _OPTIONS[backend]:
        llvm.set_option("gompute", option)


def cut(ir: str) -> str | None:
    """The module with no block longer than `LONGEST`, or None where it has none to cut.

    Args:
        ir: a module as LLVM prints it: an instruction a line, but for what lists its parts in lines of their own.
    """
    lines = ir.split("\n")
    starts = _function_starts(lines)
    if not starts:
        return None
    made: list[str] = []
    done = 0
    for first, last in starts:
        made += lines[done:first]
        made += _cut_function(lines[first:last])
        done = last
    return "\n".join([*made, *lines[done:]])


def _function_starts(lines: list[str]) -> list[tuple[int, int]]:
    """The functions with a block to cut: the numbers of the line after `define` and of the closing brace."""
    found: list[tuple[int, int]] = []
    begin = -1
    block = 0
    long = False
    for number, line in enumerate(lines):
        if begin < 0:
            if line.startswith("define "):
                begin, block, long = number + 1, number + 1, False
        elif line == "}":
            if long or number - block > LONGEST:
                found.append((begin, number))
            begin = -1
        elif line and line[0] != " " and LABEL.match(line):
            long = long or number - block > LONGEST
            block = number + 1
    return found


def _cut_function(lines: list[str]) -> list[str]:
    """One body. A phi that names a block which was cut names its last piece instead: that is where the jump comes from."""
    blocks: list[tuple[str, list[str]]] = []
    for line in lines:
        label = LABEL.match(line) if line and line[0] != " " else None
        if label is not None:
            blocks.append((label[1], [line]))
        elif not blocks:
            blocks.append(("", [line]))
        else:
            blocks[-1][1].append(line)
    made: list[str] = []
    renamed: dict[str, str] = {}
    pieces = 0
    for name, body in blocks:
        if len(body) <= LONGEST:
            made += body
            continue
        at = 0
        while len(body) - at > LONGEST:
            end = _boundary(body, at + _PIECE)
            made += body[at:end]
            pieces += 1
            made += [f"  br label %gompute.piece.{pieces}", "", f"gompute.piece.{pieces}:"]
            at = end
        made += body[at:]
        renamed[name] = f"gompute.piece.{pieces}"
    if "" in renamed:  # the entry, which nothing else in the text names when it has no name but a number
        labels = {name for name, _ in blocks}
        phis = (line for line in made if " = phi " in line)
        renamed |= {match[1]: renamed[""] for line in phis for match in _INCOMING.finditer(line) if match[1] not in labels}
    if renamed:
        made = [_INCOMING.sub(lambda match: f"%{renamed.get(match[1], match[1])} ]", line) if " = phi " in line else line for line in made]
    return made


def _boundary(body: list[str], wanted: int) -> int:
    """The first line from `wanted` on before which a block can end: an instruction, with what describes its variables before it, that
    need not stand in the block's head (phis, and the allocas of the entry)."""
    at = wanted
    while not (body[at].startswith("  ") and body[at][2] not in " ]" and " = phi " not in body[at] and " = alloca " not in body[at]):
        at += 1
    while body[at - 1].startswith("    #dbg"):
        at -= 1
    return at

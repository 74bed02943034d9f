"""Floating-point literals of very long functions, put into a table.

LLVM keeps the literals of an x86 function in a list, and one of its passes looks through all of it at each use: 25,000 operations took 14 s
to generate, 6 s of them there. A load from a table takes the same instruction of the machine.
"""

from __future__ import annotations

import re

__all__ = ["by_load"]

_TABLE = "gompute_literals"
_KINDS = ("float", "double")
_LITERAL = r"(?:0x[0-9A-F]{16}|-?[0-9]+\.[0-9]+e[+-][0-9]+)"
_ZEROS = frozenset({"0.000000e+00", "-0.000000e+00"})  # made by an instruction, without memory
# What takes operands of one type, in a line; the others (phi, store, ret) have few.
_USE = re.compile(rf"  (?:%\S+ = )?(?:fmul|fadd|fsub|fdiv|fcmp|select|(?:tail )?call)\b[^<]*? ({'|'.join(_KINDS)}) [^<]*$")


def by_load(ir: str) -> str:
    """The module with its literals in a table, or as it is where it has none.

    Args:
        ir: a module as LLVM prints it.
    """
    found = {kind: re.compile(rf"(?<={kind} ){_LITERAL}(?=[,)]|$)|(?<=, ){_LITERAL}(?=,|$)") for kind in _KINDS}
    tables: dict[str, dict[str, int]] = {kind: {} for kind in _KINDS}
    made: list[str] = []
    for line in ir.split("\n"):
        use = _USE.match(line)
        if use is not None:
            kind, width = use[1], 4 if use[1] == "float" else 8
            table = tables[kind]
            parts: list[str] = []
            done = 0
            for literal in found[kind].finditer(line):
                if literal[0] not in _ZEROS:
                    place = f"ptr getelementptr inbounds (i8, ptr @{_TABLE}.{kind}, i64 {width * table.setdefault(literal[0], len(table))})"
                    name = f"%{_TABLE}.{len(made)}"
                    made.append(f"  {name} = load {kind}, {place}, align {width}, !invariant.load !{{}}")
                    parts += [line[done : literal.start()], name]
                    done = literal.end()
            line = "".join([*parts, line[done:]])
        made.append(line)
    for kind, table in tables.items():
        if table:
            # Initialised from outside, as far as LLVM knows: it would put the values back.
            values = ", ".join(f"{kind} {literal}" for literal in table)
            made.append(f"@{_TABLE}.{kind} = internal externally_initialized constant [{len(table)} x {kind}] [{values}], align 8")
    return "\n".join(made)

"""A rewritten module of another compiler made fit for the backends: no alias, no name that an assembler does not take, nothing that binds
it to a processor of its own."""

from __future__ import annotations

import re

from gompute.errors import CompileError
from gompute.ir.printout import NAME, Alias, Definition, decoded, encoded, references, statements, substituted
from gompute.ir.verify import is_symbol

__all__ = ["closed"]

_DEFINED = re.compile(rf"^(?:({NAME}) = (?![^\n]*\bexternal )|define [^\n]*?({NAME})\()", re.MULTILINE)
_UNSAFE = re.compile(r"[^A-Za-z0-9_]")
_POINTER = re.compile(r"^ptr(?: addrspace\(\d+\))? (?=@)")
_GROUP = re.compile(r"^attributes #\d+ = \{[^\n]*", re.MULTILINE)
# What a processor has is the target's to say. What code does not use (`amdgpu-no-...`) LLVM finds out anew, and a wrong word of it reads
# zeros; a number of implicit argument bytes other than LLVM's own makes metadata and code disagree.
_BOUND = re.compile(r' "(?:target-cpu|target-features|tune-cpu|amdgpu-no-[a-z0-9-]+|amdgpu-implicitarg-num-bytes)"(?:="[^"]*")?')
_VERSION_FLAG = re.compile(r'!\{i32 \d+, !"amdhsa_code_object_version", i32 \d+\}')
_FLAGS = re.compile(r"^!llvm\.module\.flags = !\{([^\n]*)\}$", re.MULTILINE)
_METADATA = re.compile(r"^!(\d+) = ", re.MULTILINE)


def closed(text: str, convention: str, code_object_version: int | None, where: str) -> str:
    """The module as LLVM prints it, changed.

    Args:
        convention: the calling convention of its kernels.
        code_object_version: what an AMD module is to say of itself; None elsewhere.
        where: the file's name, for messages.

    Raises:
        CompileError: an alias stands for itself.
    """
    text = _GROUP.sub(lambda group: _BOUND.sub("", group[0]), text)
    text = _with_safe_names(_without_aliases(text, convention, where))
    return text if code_object_version is None else _with_version(text, code_object_version)


def _without_aliases(text: str, convention: str, where: str) -> str:
    """Every use of an alias becomes one of what it stands for: nothing outside the module can see the difference."""
    items = list(statements(text, convention))
    aliases = {item.name: _POINTER.sub("", item.target, count=1) for item in items if isinstance(item, Alias)}
    if not aliases:
        return text
    done: dict[str, str] = {}
    for name in aliases:
        target = aliases[name]
        for _ in range(len(aliases)):
            used = set(references(target)) & aliases.keys()
            if not used:
                break
            target = substituted(target, {inner: aliases[inner] for inner in used})
        else:
            raise CompileError(f"{where}: the alias `{decoded(name)}` stands for itself")
        done[name] = target
    kept = (item for item in items if not isinstance(item, Alias))
    return "".join(substituted(f"{item.head()}{item.body}" if isinstance(item, Definition) else item.text, done) for item in kept)


def _with_safe_names(text: str) -> str:
    """Functions and variables whose names not every assembler takes, under names that are safe and free."""
    defined = [match[1] or match[2] for match in _DEFINED.finditer(text)]
    unsafe = [name for name in defined if not decoded(name).startswith("llvm.") and not is_symbol(decoded(name))]
    if not unsafe:
        return text
    taken = set(references(text))
    names: dict[str, str] = {}
    for name in unsafe:
        stem = _UNSAFE.sub("_", decoded(name))
        stem = stem if stem[:1].isalpha() else f"_{stem}"
        number = 0
        while (safe := encoded(f"{stem}_{number}" if number or not is_symbol(stem) else stem)) in taken:
            number += 1
        taken.add(safe)
        names[name] = safe
    return substituted(text, names)


def _with_version(text: str, version: int) -> str:
    flag = f'!{{i32 1, !"amdhsa_code_object_version", i32 {version * 100}}}'
    if _VERSION_FLAG.search(text) is not None:
        return _VERSION_FLAG.sub(lambda _: flag, text)
    number = 1 + max((int(found[1]) for found in _METADATA.finditer(text)), default=-1)
    line = f"\n!{number} = {flag}\n"
    flags = _FLAGS.search(text)
    if flags is None:
        return f"{text}\n!llvm.module.flags = !{{!{number}}}\n{line}"
    listed = ", ".join(filter(None, [flags[1], f"!{number}"]))
    return f"{text[: flags.start()]}!llvm.module.flags = !{{{listed}}}{text[flags.end() :]}{line}"

"""Modules with random aliases: after a rewrite, no alias of a kernel is left and every public name still does what it did.

What a kernel does is found by running it: the rewritten module, as code for this machine, stores numbers that tell which definition ran,
which function it called and which variable it read, each perhaps through aliases.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from llvmlite import binding as llvm

from gompute.ir.printout import Alias, Definition, aliasee, encoded, statements
from gompute.ir.rewrite import prune, rewrite

# Beginnings of one another, quotes, escapes, what assemblers refuse, and what looks like IR.
_NAMES = (
    "k",
    "k.",
    "k.1",
    "k1",
    "a b",
    'q"',
    "\\22",
    "é",
    "WARP_SZ",
    "__",
    "x = alias",
    "@k",
    "; k",
    "define void @f() {",
    "-",
    "0x",
    "k$",
)
_KERNEL_LINKAGES = ("", "internal ", "private ", "weak_odr ", "linkonce_odr hidden ", "protected ")
_ALIAS_LINKAGES = ("", "internal ", "weak ", "linkonce_odr ", "hidden ", "dso_local ")


@dataclass
class _Module:
    """A module's text and what each public kernel must store: its definition's number, a function's and a variable's."""

    text: str
    expected: dict[str, tuple[int, int, int]] = field(default_factory=dict)


@st.composite
def _modules(draw: st.DrawFn) -> _Module:
    names = iter(draw(st.permutations(_NAMES)))
    ends: dict[str, tuple[str, int]] = {}  # name -> kind and number of what it leads to
    lines = ['target triple = "nvptx64-nvidia-cuda"']
    local: set[str] = set()
    replaceable: set[str] = set()  # by another module's definition: no alias of an alias may lead there
    for number in range(2):
        ends[name := next(names)] = ("function", number)
        lines.append(f"define internal i32 {encoded(name)}() {{\n  ret i32 {number}\n}}")
        ends[name := next(names)] = ("variable", number)
        lines.append(f"{encoded(name)} = global i32 {number}")
    kernels = [next(names) for _ in range(draw(st.integers(1, 3)))]
    for number, name in enumerate(kernels):
        linkage = draw(st.sampled_from(_KERNEL_LINKAGES))
        ends[name] = ("kernel", number)
        if linkage in ("internal ", "private "):
            local.add(name)
        lines.append(f"define {linkage}ptx_kernel void {encoded(name)}(ptr %out) {{\nBODY{number}\n}}")
    for name in [next(names) for _ in range(draw(st.integers(0, 6)))]:
        target = draw(st.sampled_from(sorted(ends.keys() - replaceable)))
        linkage = draw(st.sampled_from(_ALIAS_LINKAGES))
        ends[name] = ends[target]
        if linkage == "weak ":
            replaceable.add(name)
        if linkage == "internal ":
            local.add(name)
        value = {"function": "i32 ()", "variable": "i32", "kernel": "void (ptr)"}[ends[target][0]]
        lines.append(f"{encoded(name)} = {linkage}alias {value}, ptr {encoded(target)}")
    reached = {}
    for number in range(len(kernels)):
        function = draw(st.sampled_from(sorted(name for name, end in ends.items() if end[0] == "function")))
        variable = draw(st.sampled_from(sorted(name for name, end in ends.items() if end[0] == "variable")))
        reached[number] = (number, ends[function][1], ends[variable][1])
        body = f"""  store i32 {number}, ptr %out
  %called = call i32 {encoded(function)}()
  %second = getelementptr i32, ptr %out, i64 1
  store i32 %called, ptr %second
  %read = load i32, ptr {encoded(variable)}
  %third = getelementptr i32, ptr %out, i64 2
  store i32 %read, ptr %third
  ret void"""
        lines = [line.replace(f"BODY{number}", body) for line in lines]
    references = ", ".join(f"ptr {encoded(name)}" for name in sorted(ends))
    lines.append(f"@everything = global [{len(ends)} x ptr] [{references}]")
    expected = {name: reached[number] for name, (kind, number) in ends.items() if kind == "kernel" and name not in local}
    return _Module("\n".join(lines), expected)


def _run(text: str, symbols: dict[str, str]) -> dict[str, tuple[int, ...]]:
    """Run the kernels of a rewritten module on this machine; what each stored, by public name."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    text = re.sub(r'^target \w+ = "[^"]*"\n', "", text, flags=re.MULTILINE).replace("define ptx_kernel ", "define ")
    machine = llvm.Target.from_default_triple().create_target_machine()
    found = {}
    with llvm.create_mcjit_compiler(llvm.parse_assembly(text.replace("internal ptx_kernel", "internal")), machine) as engine:
        engine.finalize_object()
        for public, symbol in symbols.items():
            stored = (ctypes.c_int32 * 3)(-1, -1, -1)
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address(symbol))(ctypes.addressof(stored))
            found[public] = tuple(stored)
    return found


def _assert_no_kernel_alias(text: str) -> None:
    items = list(statements(str(llvm.parse_assembly(text)), "ptx_kernel"))
    aliases = {item.name: item for item in items if isinstance(item, Alias)}
    kernels = {item.name for item in items if isinstance(item, Definition)}
    for name in aliases:
        while name in aliases:
            name = aliasee(aliases[name].target)[1]
        assert name not in kernels


@settings(max_examples=60, deadline=None)
@given(_modules().filter(lambda module: module.expected))
def test_every_public_name_does_what_it_did(module: _Module) -> None:
    made = rewrite(module.text.encode(), "random.ll")
    assert made.names.keys() == module.expected.keys()
    assert len(set(made.names.values())) == len(made.names)
    _assert_no_kernel_alias(made.text)
    assert _run(made.text, made.names) == module.expected


@settings(max_examples=30, deadline=None)
@given(_modules().filter(lambda module: module.expected), st.data())
def test_what_is_kept_does_what_it_did(module: _Module, data: st.DataObject) -> None:
    keep = data.draw(st.sets(st.sampled_from(sorted(module.expected)), min_size=1))
    made = prune(module.text.encode(), "random.ll", sorted(keep))
    assert made.names.keys() == keep
    _assert_no_kernel_alias(made.text)
    assert _run(made.text, made.names) == {name: module.expected[name] for name in keep}

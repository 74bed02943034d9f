"""What is read off LLVM's printing of a module."""

from __future__ import annotations

from llvmlite import binding as llvm

from gompute.ir.outline import ModuleOutline, outline

_MODULE = r"""
@table = internal addrspace(1) constant [2 x i8] c"@x"
@"odd \22name\22" = global ptr @callee
@far = external addrspace(4) global i32
@tile = internal addrspace(3) global [64 x float] poison, align 4
@other = alias void (), ptr @callee

declare i32 @llvm.ctpop.i32(i32)

define void @callee() {
  %v = load i8, ptr addrspace(1) @table
  ret void
}

define internal fastcc i32 @helper(i32 %n) {
entry:
  %p = load ptr, ptr @"odd \22name\22"
  %c = call i32 @llvm.ctpop.i32(i32 %n)
  %frem = add i32 %c, 1
  ret i32 %frem
}

define ptx_kernel void @top(i32 %n) {
  %v = call fastcc i32 @helper(i32 %n)
  store float 1.0, ptr addrspace(3) @tile
  ret void
}
"""


def _read() -> ModuleOutline:
    return outline(str(llvm.parse_assembly(_MODULE)))


def test_functions() -> None:
    functions = _read().functions
    assert {name: (item.body is not None, item.local, item.convention) for name, item in functions.items()} == {
        "llvm.ctpop.i32": (False, False, ""),
        "callee": (True, False, ""),
        "helper": (True, True, "fastcc"),
        "top": (True, False, "ptx_kernel"),
    }
    assert functions["helper"].uses == {'odd "name"', "llvm.ctpop.i32"}
    assert functions["helper"].calls_of("llvm.ctpop.i32") == ["i32 %n"]
    assert not functions["helper"].float_remainder
    assert not functions["helper"].inline_assembly


def test_variables() -> None:
    variables = _read().variables
    assert {name: (item.kind, item.defined, item.local, item.address_space) for name, item in variables.items()} == {
        "table": ("constant", True, True, 1),
        'odd "name"': ("global", True, False, 0),
        "far": ("global", False, False, 4),
        "tile": ("global", True, True, 3),
        "other": ("alias", True, False, 0),
    }
    assert variables['odd "name"'].uses == {"callee"}
    assert variables["table"].uses == set()


def test_reach() -> None:
    shape = _read()
    assert shape.users("callee") == ['odd "name"', "other"]
    assert shape.users("nothing") == []
    assert shape.reached_from("top") == {"top", "helper", "tile", 'odd "name"', "callee", "table", "llvm.ctpop.i32"}
    assert shape.reaching("table") == {"table", "callee", 'odd "name"', "helper", "top", "other"}


def test_module_assembly() -> None:
    assert not _read().module_assembly
    assert outline(str(llvm.parse_assembly('module asm "nop"'))).module_assembly


def test_recursion_ends() -> None:
    shape = outline(
        str(llvm.parse_assembly("define void @f() {\n  call void @g()\n  ret void\n}\ndefine void @g() {\n  call void @f()\n  ret void\n}"))
    )
    assert shape.reached_from("f") == shape.reaching("f") == {"f", "g"}

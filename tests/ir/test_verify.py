"""Every kind of fault is found, all at once, with the kernels that it concerns, before and after optimisation."""

from __future__ import annotations

import pytest
from llvmlite import binding as llvm

from gompute.artifacts.entry import ArgumentEntry
from gompute.errors import CompileError
from gompute.ir.outline import outline
from gompute.ir.verify import Fault, Stage, faults, is_kernel_name, verify
from gompute.targets import Target, parse_target
from tests.backends.modules import entry, head, kernel, raw_fill, scale_relu

SM_89, GFX942, X86 = (parse_target(name) for name in ("sm_89", "gfx942", "x86-64-v3"))


def found(ir: str, names: list[str], target: Target, stage: Stage = "before optimisation") -> list[Fault]:
    """Faults of a module whose kernels take one pointer."""
    module = llvm.parse_assembly(ir)
    module.verify()
    pointer = ArgumentEntry("data", "pointer", "f32", 8, 8)
    return faults(module, outline(str(module)), [entry(name, arguments=[pointer]) for name in names], target, stage)


def one(ir: str, names: list[str], target: Target, stage: Stage = "before optimisation") -> Fault:
    only = found(ir, names, target, stage)
    assert len(only) == 1, only
    return only[0]


@pytest.mark.parametrize("target", [SM_89, GFX942, X86], ids=str)
@pytest.mark.parametrize("make", [scale_relu, raw_fill])
def test_good_modules_pass(target: Target, make: object) -> None:
    assert callable(make)
    ir, kernels = make(target)
    shape = verify(llvm.parse_assembly(ir), kernels, target, "before optimisation")
    assert kernels[0].symbol in shape.functions


def test_external_function() -> None:
    ir, _ = kernel(SM_89, "  call void @log_it(ptr %data)", before="declare void @log_it(ptr)")
    assert one(ir, ["probe"], SM_89) == Fault(
        "external function",
        "kernel `probe`",
        "it needs the function `log_it`, which the module only declares; nothing is linked in, so define it in the module",
    )


def test_fault_in_a_function_names_it_and_every_kernel_that_reaches_it() -> None:
    before = "declare float @sinf(float)\ndefine internal void @wave(ptr %p) {\n  %s = call float @sinf(float 1.0)\n  ret void\n}"
    ir, _ = kernel(SM_89, "  call void @wave(ptr %data)", "second", before=before)
    ir += "define ptx_kernel void @first(ptr addrspace(1) %p) {\n  call void @wave(ptr null)\n  ret void\n}"
    assert one(ir, ["first", "second"], SM_89).where == "kernels `first`, `second` (in `wave`)"


def test_fault_in_a_function_that_no_kernel_reaches() -> None:
    before = "declare float @sinf(float)\ndefine internal void @idle() {\n  %s = call float @sinf(float 1.0)\n  ret void\n}"
    assert one(kernel(X86, "", before=before)[0], ["probe"], X86).where == "function `idle`"


def test_unused_declaration_is_a_fault_of_the_module() -> None:
    assert one(kernel(X86, "", before="declare float @sinf(float)")[0], ["probe"], X86).where == "the module"


def test_external_variable() -> None:
    ir, _ = kernel(X86, "  %v = load i32, ptr @counter", before="@counter = external global i32")
    fault = one(ir, ["probe"], X86)
    assert (fault.kind, fault.where) == ("external variable", "kernel `probe`")
    assert "`counter`, which the module only declares" in fault.text


@pytest.mark.parametrize(
    ("target", "name", "reason"),
    [(SM_89, "llvm.sin.f32", "exact"), (GFX942, "llvm.sin.f32", "exact"), (X86, "llvm.exp.f32", "exact")],
    ids=str,
)
def test_intrinsic(target: Target, name: str, reason: str) -> None:
    ir, _ = kernel(target, f"  %v = call float @{name}(float 2.0)\n  store float %v, ptr %data", before=f"declare float @{name}(float)")
    fault = one(ir, ["probe"], target)
    assert (fault.kind, fault.where) == ("intrinsic", "kernel `probe`")
    assert fault.text.startswith(f"the intrinsic `{name}` is not allowed: ")
    assert reason in fault.text


@pytest.mark.parametrize("flag", ["", "nnan nsz ", "reassoc ", "fast ", "nnan reassoc "])
def test_a_sum_of_a_vector_has_an_order(flag: str) -> None:
    before = "declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)"
    body = (
        "  %v = load <4 x float>, ptr %data\n"
        f"  %sum = call {flag}float @llvm.vector.reduce.fadd.v4f32(float 0.0, <4 x float> %v)\n  store float %sum, ptr %data"
    )
    faults = found(kernel(X86, body, before=before)[0], ["probe"], X86)
    if "reassoc" not in flag and "fast" not in flag:
        assert faults == []
        return
    (fault,) = faults
    assert (fault.kind, fault.where) == ("free order", "kernel `probe`")
    assert fault.text == (
        "`llvm.vector.reduce.fadd.v4f32` has a flag by which LLVM may add in any order, another on each target; "
        "leave out `reassoc` and `fast`"
    )


@pytest.mark.parametrize("length", ["i64 129", "i64 %n"])
@pytest.mark.parametrize("name", ["memset", "memcpy", "memmove"])
def test_copy_length_on_a_cpu(name: str, length: str) -> None:
    suffix, source, type_ = ("p0.i64", "i8 0", "i8") if name == "memset" else ("p0.p0.i64", "ptr %data", "ptr")
    before = f"declare void @llvm.{name}.{suffix}(ptr, {type_}, i64, i1)"
    body = f"  %n = load i64, ptr %data\n  call void @llvm.{name}.{suffix}(ptr %data, {source}, {length}, i1 false)"
    fault = one(kernel(X86, body, before=before)[0], ["probe"], X86)
    assert (fault.kind, fault.where) == ("copy length", "kernel `probe`")
    assert "more than 128 bytes" in fault.text
    assert f"llvm.{name}.inline" in fault.text
    assert found(kernel(X86, body.replace(length, "i64 128"), before=before)[0], ["probe"], X86) == []
    assert found(kernel(SM_89, body, before=before)[0], ["probe"], SM_89) == []


def test_float_remainder() -> None:
    ir, _ = kernel(SM_89, "  %x = load float, ptr %data\n  %v = frem float %x, 3.0\n  store float %v, ptr %data")
    fault = one(ir, ["probe"], SM_89)
    assert (fault.kind, fault.where) == ("float remainder", "kernel `probe`")
    assert "`frem` is wrong" in fault.text


def test_inline_and_module_assembly() -> None:
    ir, _ = kernel(SM_89, '  call void asm sideeffect "bar.sync 0;", "~{memory}"()', before='module asm ".weak x"')
    inline, module = found(ir, ["probe"], SM_89)
    assert (inline.kind, inline.where) == ("inline assembly", "kernel `probe`")
    assert (module.kind, module.where) == ("module assembly", "the module")


def test_text_that_only_looks_like_a_fault() -> None:
    text = r'@note = internal constant [45 x i8] c" = frem asm \22@sinf\22 alias ptr @probe ifunc  \00"'
    assert found(kernel(SM_89, "  %v = load i8, ptr @note\n  store i8 %v, ptr %data", before=text)[0], ["probe"], SM_89) == []


def test_alias_to_a_kernel_names_the_kernel() -> None:
    ir, _ = kernel(SM_89, "", before="@other = alias void (ptr addrspace(1)), ptr @probe")
    fault = one(ir, ["probe"], SM_89)
    assert (fault.kind, fault.where) == ("alias", "kernel `probe`")
    assert fault.text == "`other` is an alias of `probe`, which not every backend can carry out; define the function under that name"


def test_kernel_that_is_an_alias_is_missing_too() -> None:
    ir, _ = kernel(SM_89, "", "hidden", before="@probe = alias void (ptr addrspace(1)), ptr @hidden")
    kinds = [fault.kind for fault in found(ir, ["probe"], SM_89)]
    assert kinds == ["missing kernel", "unlisted kernel", "alias"]


def test_ifunc() -> None:
    before = "define internal ptr @pick() {\n  ret ptr null\n}\n@f = ifunc void (), ptr @pick"
    fault = one(kernel(X86, "  call void @f()", before=before)[0], ["probe"], X86)
    assert (fault.kind, fault.where) == ("ifunc", "kernel `probe`")


@pytest.mark.parametrize(("list_", "word"), [("llvm.global_ctors", "constructors"), ("llvm.global_dtors", "destructors")])
def test_constructor(list_: str, word: str) -> None:
    entries = "[1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @start, ptr null }]"
    before = f"define internal void @start() {{\n  ret void\n}}\n@{list_} = appending global {entries}"
    fault = one(kernel(X86, "", before=before)[0], ["probe"], X86)
    assert (fault.kind, fault.where) == ("constructor", "the module")
    assert word in fault.text


def test_lists_of_symbols_to_keep_pass() -> None:
    before = '@llvm.used = appending global [1 x ptr] [ptr @probe], section "llvm.metadata"'
    assert found(kernel(X86, "", before=before)[0], ["probe"], X86) == []


@pytest.mark.parametrize("name", ["a.b", "a-b", "a b", "a\\22b", "0", "WARP_SZ", "__", "$", "é"])
def test_symbol_names_of_functions_and_kernels(name: str) -> None:
    ir, _ = kernel(SM_89, f'  call void @"{name}"()', before=f'define internal void @"{name}"() {{\n  ret void\n}}')
    fault = one(ir, ["probe"], SM_89)
    assert (fault.kind, fault.where) == ("symbol name", f"kernel `probe` (in `{name.replace(chr(92) + '22', chr(34))}`)")


def test_kernel_name_with_a_dot() -> None:
    fault = one(kernel(SM_89, "")[0].replace("@probe", '@"my.kernel"'), ["my.kernel"], SM_89)
    assert (fault.kind, fault.where) == ("symbol name", "kernel `my.kernel`")


def test_names_that_llvm_derives_pass_after_optimisation_where_they_are_local() -> None:
    def ir(linkage: str) -> str:
        table = f"@switch.table.probe = {linkage} constant [2 x i32] [i32 1, i32 2]"
        return kernel(SM_89, "  %v = load i32, ptr @switch.table.probe\n  store i32 %v, ptr %data", before=table)[0]

    assert found(ir("private"), ["probe"], SM_89, "after optimisation") == []
    assert one(ir("private"), ["probe"], SM_89, "before optimisation").kind == "symbol name"
    assert one(ir(""), ["probe"], SM_89, "after optimisation").kind == "symbol name"


@pytest.mark.parametrize(
    ("name", "good"),
    [
        *[(name, True) for name in ("a", "add", "malloc", "_init", "_9", "x__y", "End")],
        *[(name, False) for name in ("", "_", "__", "9a", "a.b", "a$", "a-b", "é", "WARP_SZ", "_DYNAMIC", "a\n")],
    ],
)
def test_kernel_names(name: str, good: bool) -> None:
    assert is_kernel_name(name) is good


def test_missing_kernel() -> None:
    ir = kernel(SM_89, "", before="declare ptx_kernel void @promised(ptr addrspace(1))")[0]
    absent, promised, external = found(ir, ["absent", "probe", "promised"], SM_89)
    assert str(absent) == "kernel `absent`: the function `absent` that it names is not there; define it under that name"
    assert (promised.kind, promised.where) == ("missing kernel", "kernel `promised`")
    assert "is only declared" in promised.text
    assert external.kind == "external function"


@pytest.mark.parametrize(
    ("target", "have", "want"), [(SM_89, "that of C", "`ptx_kernel`"), (GFX942, "that of C", "`amdgpu_kernel`")], ids=str
)
def test_kernel_convention(target: Target, have: str, want: str) -> None:
    ir = kernel(target, "")[0].replace("ptx_kernel ", "").replace("amdgpu_kernel ", "")
    fault = one(ir, ["probe"], target)
    assert str(fault) == f"kernel `probe`: its calling convention is {have}; for {target.name} it must be {want}"


def test_kernel_convention_on_a_cpu() -> None:
    fault = one(kernel(X86, "")[0].replace("define void", "define fastcc void"), ["probe"], X86)
    assert str(fault) == "kernel `probe`: its calling convention is `fastcc`; for x86-64-v3 it must be that of C"


def test_kernel_visibility() -> None:
    fault = one(kernel(SM_89, "")[0].replace("define ptx", "define internal ptx"), ["probe"], SM_89)
    assert fault.kind == "kernel visibility"


def test_kernel_arguments() -> None:
    fault = one(kernel(SM_89, "")[0].replace("%global) ", "%global, i64 %n) "), ["probe"], SM_89)
    assert str(fault) == "kernel `probe`: it takes 2 arguments, but its entry in the name table lists 1"
    fault = one(kernel(X86, "")[0].replace("i64 %end", "i32 %end"), ["probe"], X86)
    assert str(fault) == "kernel `probe`: it takes (ptr, ptr, i64, i32); a CPU kernel takes (ptr, ptr, i64, i64)"


def test_unlisted_kernel() -> None:
    ir, _ = kernel(GFX942, "", before="define amdgpu_kernel void @extra() {\n  ret void\n}")
    fault = one(ir, ["probe"], GFX942)
    assert (fault.kind, fault.where) == ("unlisted kernel", "function `extra`")


def test_all_faults_come_in_one_error() -> None:
    body = "  %a = frem float 4.0, 3.0\n  %b = call float @llvm.sin.f32(float %a)\n  %c = call float @sinf(float %b)"
    ir, kernels = kernel(SM_89, body, before="declare float @llvm.sin.f32(float)\ndeclare float @sinf(float)")
    with pytest.raises(CompileError) as caught:
        verify(llvm.parse_assembly(ir), kernels, SM_89, "after optimisation")
    lines = str(caught.value).splitlines()
    assert lines[0] == "kernel probe for sm_89: 3 faults in the LLVM module, after optimisation"
    assert len(lines) == 4
    assert all(line.startswith("  kernel `probe`: ") for line in lines[1:])


def test_empty_module() -> None:
    module = llvm.parse_assembly(head(SM_89))
    assert verify(module, (), SM_89, "before optimisation").functions == {}

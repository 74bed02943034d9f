"""Modules that LLVM itself refuses, or that belong elsewhere."""

from __future__ import annotations

import pytest

from gompute.artifacts.names import describe_unit
from gompute.errors import CompileError
from gompute.ir.parse import parsed
from gompute.targets import parse_target
from tests.backends.modules import head, scale_relu

SM_89 = parse_target("sm_89")
LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"


def read(ir: str, names: list[str]) -> str:
    """The module as LLVM prints it."""
    with parsed(ir, names, SM_89, LAYOUT) as module:
        return str(module)


def test_unit() -> None:
    assert describe_unit(["a"], SM_89) == "kernel a for sm_89"
    assert describe_unit(["a", "b"], SM_89) == "kernels a, b for sm_89"


def test_text_that_llvm_cannot_read() -> None:
    with pytest.raises(CompileError) as caught:
        read("define void @f() {\n  oops\n}", ["f"])
    lines = str(caught.value).splitlines()
    assert lines[0] == "kernel f for sm_89: LLVM cannot read the module"
    assert "expected instruction opcode" in str(caught.value)


def test_module_that_llvm_refuses() -> None:
    with pytest.raises(CompileError, match=r"(?s)^kernel f for sm_89: LLVM's verifier refuses the module\n  .*\n"):
        read(head(SM_89) + "define void @f(i32 %n) {\n  %v = add i32 %w, 1\n  %w = add i32 %v, 1\n  ret void\n}", ["f"])


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [("nvptx64-nvidia-cuda", "x86_64-unknown-linux-gnu", "triple"), ("n16:32:64", "n32:64", "datalayout")],
)
def test_module_for_another_target(old: str, new: str, what: str) -> None:
    ir = scale_relu(SM_89)[0].replace(old, new)
    with pytest.raises(CompileError, match=f"made for another target: its {what} is "):
        read(ir, ["scale_relu"])


def test_type_names_do_not_depend_on_what_was_parsed_before() -> None:
    ir = head(SM_89) + "%pair = type { i32, i32 }\n@p = internal global %pair zeroinitializer\n"
    with parsed(ir, [], SM_89, LAYOUT) as first, parsed(ir, [], SM_89, LAYOUT) as second:
        assert str(first) == str(second)

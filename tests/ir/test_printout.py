"""LLVM's printing of a module, taken apart: names, aliases, heads of functions."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from llvmlite import binding as llvm

from gompute.ir.printout import Alias, Definition, Other, aliasee, decoded, encoded, references, split_commas, statements, substituted


@example("$")
@example("a$b")
@example("-a.b")
@example("1a")
@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\1"), min_size=1))
def test_a_name_is_written_as_llvm_writes_it(name: str) -> None:
    printed = str(llvm.parse_assembly(f"{encoded(name)} = global i8 0\n@other = global ptr {encoded(name)}"))
    assert f"\n{encoded(name)} = global i8 0\n" in printed
    assert decoded(encoded(name)) == name


def test_bytes_that_are_no_text_stay_escaped() -> None:
    assert decoded('@"a\\FF\\22"') == 'a\\xff"'


def test_a_head_is_taken_apart_and_put_together() -> None:
    head = 'define linkonce_odr dso_local hidden amdgpu_kernel "x"="@no" void @"a b"(ptr "y"=" comdat " %0) #0 comdat($"c d") align 8'
    text = f"; comment @x\n@g = global i32 0\n{head} {{\n  ret void\n}}\n\n@a = weak alias void (), ptr @g\n"
    other, definition, blank, alias = statements(text, "amdgpu_kernel")
    assert isinstance(definition, Definition)
    assert definition.words == ("linkonce_odr", "dso_local", "hidden")
    assert (definition.convention, definition.before, definition.name) == ("amdgpu_kernel", '"x"="@no" void ', '@"a b"')
    assert definition.head() == head
    assert definition.body == " {\n  ret void\n}\n"
    assert definition.without_comdat().after == '(ptr "y"=" comdat " %0) #0 align 8'
    assert not definition.local
    assert other == Other("; comment @x\n@g = global i32 0\n")
    assert blank == Other("\n")
    assert alias == Alias(("weak",), "@a", "ptr @g", "@a = weak alias void (), ptr @g")


def test_functions_of_other_conventions_are_left_in_one_piece() -> None:
    text = 'define void @f(ptr "a"=" ptx_kernel " %0) {\n  ret void\n}\ndefine void @g() {\n  ret void\n}\n'
    assert list(statements(text, "ptx_kernel")) == [Other(text)]


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("ptr @f", ("name", "@f", "ptr")),
        ('ptr addrspace(1) @"a b"', ("name", '@"a b"', "ptr addrspace(1)")),
        ("addrspacecast (ptr @f to ptr addrspace(1))", ("name", "@f", "ptr addrspace(1)")),
        ("addrspacecast (ptr addrspace(1) addrspacecast (ptr @f to ptr addrspace(1)) to ptr)", ("name", "@f", "ptr")),
        ("getelementptr (i8, ptr @f, i64 4)", ("part", "@f", "")),
        ("addrspacecast (ptr getelementptr (i8, ptr @f, i64 4) to ptr addrspace(1))", ("part", "@f", "")),
        ("inttoptr (i64 4096 to ptr)", ("other", "", "")),
    ],
)
def test_what_an_alias_stands_for(target: str, found: tuple[str, str, str]) -> None:
    assert aliasee(target) == found


def test_strings_and_comments_hold_no_references() -> None:
    text = 'store ptr @a, ptr @"b c" ; @d "\n  call void asm "@e ; ", ""() @a.b @a'
    assert list(references(text)) == ["@a", '@"b c"', "@a.b", "@a"]
    assert substituted(text, {"@a": "@x", '@"b c"': "@y", "@d": "@z", "@e": "@z"}) == (
        'store ptr @x, ptr @y ; @d "\n  call void asm "@e ; ", ""() @a.b @x'
    )


def test_commas_in_brackets_and_strings_do_not_count() -> None:
    assert split_commas('void ({ i32, i8 }, <2 x i8>), ptr @"a, b", partition "x"') == [
        *("void ({ i32, i8 }, <2 x i8>)", 'ptr @"a, b"', 'partition "x"'),
    ]

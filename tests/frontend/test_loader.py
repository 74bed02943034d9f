"""Importing a root's module: what it may reach, what it reports, and that nothing stays behind."""

from __future__ import annotations

import os
import py_compile
import sys
from pathlib import Path

import pytest

from gompute.errors import CompileError
from tests.frontend.authoring import HEAD_LINES, compiled, write

KERNEL = "@g.map\ndef f(x: f32) -> f32:\n    return x\n"


def refusal(file: Path, imports: list[Path] | None = None) -> str:
    with pytest.raises(CompileError) as caught:
        compiled(file, imports=imports)
    return str(caught.value).replace(f"{file.parent}/", "")


def test_a_root_imports_modules_and_packages_beside_it(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("A = 2.0\n")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "__init__.py").write_text("from two.inner import B\n")
    (tmp_path / "two" / "inner.py").write_text("B = 3.0\n")
    made = compiled(write(tmp_path, "import one\nimport two\n\n@g.map\ndef f(x: f32) -> f32:\n    return x * one.A * two.B\n"))
    assert [path.relative_to(tmp_path).as_posix() for path in made.sources] == ["one.py", "root.py", "two/__init__.py", "two/inner.py"]


def test_an_import_that_is_not_there_says_what_a_root_can_import(tmp_path: Path) -> None:
    assert refusal(write(tmp_path, "import requests\n" + KERNEL)) == (
        f"root.py:{HEAD_LINES + 1}:1: a kernel root can import the standard library, gompute, numpy and what lies beside it; "
        "there is no 'requests.py'\n    import requests\n    ^~~~~~~~~~~~~~~"
    )


def test_an_undeclared_import_prints_the_line_to_add(tmp_path: Path) -> None:
    for name in ("declared.py", "other.py"):
        (tmp_path / name).write_text("")
    file = write(tmp_path, "import declared\nimport other\n" + KERNEL)
    text = refusal(file, imports=[tmp_path / "declared.py"])
    assert 'add to [tool.gompute.roots.root]: imports = ["declared.py", "other.py"]' in text
    assert text.startswith(f"root.py:{HEAD_LINES + 2}:1: ")


@pytest.mark.parametrize("driver", ["cuda", "hip", "cupy", "torch", "pynvml", "llvmlite", "numba"])
def test_drivers_and_compilers_cannot_be_imported(tmp_path: Path, driver: str) -> None:
    assert f"there is no '{driver}.py'" in refusal(write(tmp_path, f"import {driver}\n" + KERNEL))


def test_an_exception_at_import_shows_its_line(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def run():\n    return 1 / 0\n\nrun()\n")
    assert refusal(write(tmp_path, "import broken\n" + KERNEL)) == (
        "broken.py:2:12: importing this module fails: ZeroDivisionError: division by zero\n        return 1 / 0\n               ^~~~~"
    )


def test_an_exit_at_import_is_a_fault_and_not_the_end(tmp_path: Path) -> None:
    assert "importing this module fails: SystemExit: 3" in refusal(write(tmp_path, "raise SystemExit(3)\n"))


def test_a_syntax_error_shows_its_place(tmp_path: Path) -> None:
    text = refusal(write(tmp_path, "def f(:\n    pass\n"))
    assert text.startswith(f"root.py:{HEAD_LINES + 1}:7: SyntaxError: ")
    assert "\n    def f(:\n          ^" in text


def test_a_root_without_kernels_says_what_to_write(tmp_path: Path) -> None:
    assert refusal(write(tmp_path, "x = 1\n")).endswith(
        "root 'root' has no kernel; write @g.map or @g.kernel above a function, with import gompute as g"
    )


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nothing.py").endswith("no such file; the source of root 'nothing' is a Python module")


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "root.py").write_bytes(b"x = '\xff\xfe'\n")
    assert "cannot read the source: " in refusal(tmp_path / "root.py")


def test_a_root_may_be_called_like_a_standard_module(tmp_path: Path) -> None:
    made = compiled(write(tmp_path, KERNEL, "random.py"))
    assert made.name == "random"
    import random

    assert Path(random.__file__).parent != tmp_path


def test_kernels_of_an_imported_module_belong_to_that_module(tmp_path: Path) -> None:
    write(tmp_path, "@g.map\ndef theirs(x: f32) -> f32:\n    return x\n", "other.py")
    made = compiled(write(tmp_path, "from other import theirs\n" + KERNEL))
    assert [kernel.name for kernel in made.kernels] == ["f"]


def test_a_factory_in_another_module_makes_kernels_for_its_caller(tmp_path: Path) -> None:
    factory = "def make(name):\n    @g.map(name=name)\n    def inner(x: f32) -> f32:\n        return x\n    return inner\n"
    write(tmp_path, factory, "factory.py")
    made = compiled(write(tmp_path, "import factory\nkernels = [factory.make('one'), factory.make('two')]\n"))
    assert [kernel.name for kernel in made.kernels] == ["one", "two"]


def test_an_import_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("")
    before, path, finders = set(sys.modules), list(sys.path), list(sys.meta_path)
    compiled(write(tmp_path, "import beside\n" + KERNEL))
    assert {name for name in set(sys.modules) - before if "beside" in name or "root" in name} == set()
    assert (sys.path, sys.meta_path) == (path, finders)
    assert not list(tmp_path.rglob("__pycache__"))


def test_a_blank_line_or_a_comment_changes_no_byte(tmp_path: Path) -> None:
    body = "A = 2.0\n\ndef g2(x: f32) -> f32:\n    return x * A\n\n@g.map\ndef f(x: f32) -> f32:\n    assert x > 0\n    return g2(x)\n"
    first = compiled(write(tmp_path, body)).ir
    os.remove(tmp_path / "root.py")
    assert compiled(write(tmp_path, "\n# a comment\n" + body)).ir == first


def test_the_folder_of_a_root_leaves_no_trace_in_its_code(tmp_path: Path) -> None:
    texts = []
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        texts.append(compiled(write(tmp_path / folder, KERNEL)).ir)
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]


def test_closures_and_lambdas_on_one_line_are_kernels_of_their_own(tmp_path: Path) -> None:
    body = """
    def typed(function):
        function.__annotations__ = {"x": f32, "return": f32}
        return function

    one, two = g.map(name="one")(typed(lambda x: x * 2.0)), g.map(name="two")(typed(lambda x: x * 3.0))
    nested = g.map(name="nested")(typed((lambda k: lambda x: x * k)(5.0)))
    """
    ir = compiled(write(tmp_path, body)).ir
    assert [value for value in ("0x4000000000000000", "0x4008000000000000", "0x4014000000000000") if value in ir] != []
    assert ir.count("fmul float") == 3


def test_stale_bytecode_beside_a_source_is_not_used(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from package.inner import A\n")
    for name in (tmp_path / "beside.py", package / "inner.py"):
        name.write_text("A = 2.0\n")
        stamp = name.stat()
        py_compile.compile(str(name), doraise=True)
        name.write_text("A = 5.0\n")  # the same size, and within the resolution of a bytecode's time stamp
        os.utime(name, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    body = "import beside\nimport package\n\n@g.map\ndef f(x: f32) -> f32:\n    return x * beside.A * package.A\n"
    ir = compiled(write(tmp_path, body)).ir
    assert ir.count("0x4014000000000000") == 2


def test_annotations_may_be_text(tmp_path: Path) -> None:
    head = "from __future__ import annotations\nimport gompute as g\nfrom gompute import f32\n"
    body = "@g.params\nclass P:\n    a: f32\n\n@g.map\ndef f(x: f32, p: P) -> f32:\n    return x * p.a\n"
    (tmp_path / "root.py").write_text(head + body)
    assert [kernel.signature for kernel in compiled(tmp_path / "root.py").kernels] == [
        "map(data: ptr[f32], len: u64, params: P{a: f32 @0; size 4, align 4}) block=256,1,1"
    ]

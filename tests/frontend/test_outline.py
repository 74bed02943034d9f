"""Parts of a module are parsed alone as they are in the whole, and an import does without the bodies of kernels."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

import gompute
from gompute.errors import CompileError
from gompute.frontend.layout import layout_of
from gompute.frontend.outline import LEFT_OUT
from gompute.frontend.source import SourceFile
from tests.frontend.authoring import compiled, write

PACKAGE = Path(gompute.__file__).parent
LIBRARY = Path(os.__file__).parent
ALL = sorted([*PACKAGE.glob("*/*.py"), *LIBRARY.glob("email/*.py"), *LIBRARY.glob("c*.py")])
FILES = [path for path in ALL if "\f" not in path.read_text()]  # which Debian's library has here and there

AWKWARD = {
    "text at the margin": 'def f():\n    a = """\ndef g():\n    pass\n"""\n    return a\n\nx = 1\n',
    "brackets at the margin": "def f():\n    return (\n1,\n[2,\n3],\n)\nx = 1\n",
    "a line that goes on": "def f():\n    return 1 + \\\n2\nx = 1\n",
    "a comment at the margin": "def f():\n    a = 1\n# no end\n    return a\n",
    "quotes in comments": "def f():\n    a = 1  # it's \"\"\" fine\n    return a\ny = '#'\n",
    "quotes in quotes": "def f():\n    return '''a \"\"\" b''' + \"'''\" + r'\\\\'  'x'\nz = 2\n",
    "two decorators": "@a\n# between\n@b(\n1)\n\ndef f(): return 1\nx = 1\n",
    "asynchronous": "async def f():\n    pass\nx = 1\n",
    "one line": "def f(x: int = 1) -> int: return x\ndef g(): pass\n",
    "a long head": "def f(\n    x,  # one:\n    y=lambda: (1,\n2),\n):\n    return x\n",
    "line ends": "def f():\r\n    return 1\r\nx = 1\r\n",
    "words in a text": 'TEXT = """\n@g.map\ndef f(x):\n    return x\n"""\n@g.map\ndef f(x):\n    return x\n',
}


@pytest.mark.parametrize("text", [*AWKWARD.values(), *(path.read_text() for path in FILES)], ids=[*AWKWARD, *(path.stem for path in FILES)])
def test_a_function_parsed_alone_is_the_one_of_the_whole(text: str) -> None:
    file, whole = SourceFile("shown.py", "shown.py", text), ast.parse(text)
    layout = layout_of("\n".join(file.lines))
    assert layout is not None
    for node in whole.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            assert layout.end_of_function(first) == node.end_lineno
            assert ast.dump(file._statement(first, whole=False), include_attributes=True) == ast.dump(node, include_attributes=True)  # type: ignore[arg-type]
        elif not isinstance(node, ast.ClassDef):
            assert layout.end_of_function(node.lineno) is None
    assert "tree" not in vars(file)


@pytest.mark.parametrize("text", ["a = 'b\n", 'a = """b\n', "a = (\n", "a\f = 1\n", "a = '\0'\n", "a = 1)\n"])
def test_what_cannot_be_told_line_by_line_has_no_layout(text: str) -> None:
    assert layout_of(text) is None


def bodies(text: str) -> list[str]:
    """The functions whose bodies an import does without; what is left has every other line at its place."""
    file = SourceFile("shown.py", "shown.py", text)
    if file.outline is None:
        return []
    ast.parse(file.outline.text)
    left = file.outline.text.split("\n")
    assert len(left) == len(file.lines)
    inside = {number for body in file.outline.bodies.values() for number in range(body.first, body.last + 1)}
    for number, (now, before) in enumerate(zip(left, file.lines, strict=True), 1):
        assert number in inside or now == before
    assert sum(LEFT_OUT in line for line in left) == len(file.outline.bodies)
    return [body.name for body in file.outline.bodies.values()]


F = "def f(x: f32) -> f32:\n    return x\n"


@pytest.mark.parametrize(
    "text",
    [
        f"import gompute as g\n@g.map\n{F}",
        f"import gompute\n@gompute.map(block_size=64)\n{F}",
        f"from gompute import map as m\n@m\n{F}",
        f"import gompute as g\n@g.map(\n    block_size=64,\n)\n# a word\n\n{F}",
        (
            "import gompute as g\n@g.map\ndef f(\n    x: f32,  # first:\n) -> f32:\n\n    # a word\n"
            "    '''Text.\n\nMore.\n'''\n    return x\n\n# not of it\n"
        ),
        f"'''\n@g.map\n{F}'''\nimport gompute as g\n@g.map\n{F}",
        "import gompute as g\n@g.map\ndef f(x: f32) -> f32:\n    return (x +\nx)\n",
    ],
)
def test_a_kernel_is_imported_without_its_body(text: str) -> None:
    assert bodies(text) == ["f"]


@pytest.mark.parametrize(
    "text",
    [
        f"import other as g\n@g.map\n{F}",
        f"import gompute as g\ng = other\n@g.map\n{F}",
        f"import gompute as g\nimport other as g\n@g.map\n{F}",
        f"import gompute as g\nfor g in range(3): pass\n@g.map\n{F}",
        f"import gompute as g\ndef change():\n    global g\n    g = 1\nchange()\n@g.map\n{F}",
        f"import gompute as g\nclass g: pass\n@g.map\n{F}",
        f"try:\n    import gompute as g\nfinally:\n    pass\n@g.map\n{F}",
        f"from .gompute import map\n@map\n{F}",
        f"import gompute as g\n@other\n@g.map\n{F}",
        f"import gompute as g\n@g.map\n@other\n{F}",
        f"import gompute as g\n@g.map.other\n{F}",
        f"import gompute as g\n@other(g.map)\n{F}",
        "import gompute as g\n@g.map\ndef f(x: f32) -> f32: return x\n",
        "import gompute as g\n@g.map\ndef f(x: f32) -> f32: \\\n    return x\n",
        "import gompute as g\n@g.map\ndef f(x: f32) -> f32:\n    yield x\n",
        "import gompute as g\n@g.map\nasync def f(x: f32) -> f32:\n    return x\n",
        "import gompute as g\n@g.map\ndef f[N: (f32, f64)](x: N) -> N:\n    return x + N(1)\n",
        "import gompute as g\n@g.params\nclass P:\n    a: f32\n",
        f"import gompute as g\ndef helper():\n    return 1\n{F}",
        "import gompute as g\nif True:\n    @g.map\n    def f(x: f32) -> f32:\n        return x\n",
        f"import gompute as g\n@g.map\n{F}x = (\n",
    ],
)
def test_whatever_else_is_imported_whole(text: str) -> None:
    assert bodies(text) == []


@pytest.mark.parametrize("words", ["{}(3.0)", "try:\n    {}(3.0)\nexcept BaseException:\n    pass\nVALUE = {}(3.0)"])
def test_a_body_that_runs_as_python_is_there(tmp_path: Path, words: str) -> None:
    call = words.replace("{}", "double.functions[0]")
    text = f"@g.map\ndef double(x: f32) -> f32:\n    return x * 2.0\n\nVALUE = {call}\n" if "\n" not in words else ""
    text = text or f"@g.map\ndef double(x: f32) -> f32:\n    return x * 2.0\n\n{call}\n"
    made = compiled(write(tmp_path, f"{text}\n@g.map\ndef by(x: f32) -> f32:\n    return x * VALUE\n"))
    (unit,) = [unit for unit in made.units if unit.kernels[0].name == "by"]
    assert "0x4018000000000000" in unit.ir


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    return x +\n", ":5:15: SyntaxError: invalid syntax\n        return x +\n                  ^"),
        ("    break\n    return x\n", ": SyntaxError: 'break' outside loop\n        break\n"),
        ("    x = 1.0\n    global x\n    return x\n", "SyntaxError: name 'x' is parameter and global\n"),
    ],
)
def test_a_syntax_error_in_the_body_of_a_kernel(tmp_path: Path, body: str, words: str) -> None:
    file = tmp_path / "root.py"
    file.write_text(f"import gompute as g\nfrom gompute import f32\n@g.map\ndef f(x: f32) -> f32:\n{body}")
    with pytest.raises(CompileError) as caught:
        compiled(file)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{file}:")

"""What a scan finds in host code, form by form."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gompute.errors import CompileError
from gompute.manifest.scan import RootSource, Scan, scan

KERNELS = """
import typing

import gompute as g
from gompute import f32, f64, i32, u32, u64

T = typing.TypeVar("T", f32, f64)
I = typing.TypeVar("I", i32, u32)


@g.map
def scale(x: f32) -> f32:
    return x * 2.0


@g.map(name="two", block_size=128)
def other(x: f32) -> f32:
    return x


@g.map
def axpy(x: T) -> T:
    return x


@g.zip
def mixed(x: "T", n: I) -> T:
    return x


@g.kernel
def raw(data: g.ptr[f32], n: u64) -> None:
    pass


@g.reduce(identity=0.0)
def add(a: f32, b: f32) -> f32:
    return a + b


pick = g.gather("pick", f32, u32)
total = g.sum("total_of", f32)
both = g.fused("both", scale, other)


def twice(x: T) -> T:
    return x + x


doubled = g.unary("doubled", twice)
chained = g.fused("chained", axpy, twice)


def made(name):
    @g.map(name=name)
    def inner(x: f32) -> f32:
        return x

    return inner


late = made("late_kernel")
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    (folder / "kernels.py").write_text(KERNELS)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
    return folder


def scanned(folder: Path, *paths: str, keep: tuple[str, ...] = ()) -> Scan:
    root = RootSource("image", (folder / "kernels.py",))
    return scan([folder / path for path in paths], [root], keep=keep, base=folder)


def launched(folder: Path, host: str, **more: str) -> list[str]:
    """`KERNEL` or `KERNEL[INSTANCE]` for everything that a host program launches."""
    write(folder, {"host.py": "import gompute as g\nfrom gompute import f32, f64, i32\nimport kernels\n" + textwrap.dedent(host), **more})
    kernels = scanned(folder, "host.py").manifest.kernels
    assert kernels.keys() <= {"image"}
    return [f"{name}[{made}]" if made else name for name, instances in kernels.get("image", {}).items() for made in instances or ("",)]


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("g.Kernel(kernels.scale, 'cpu')", ["scale"]),
        ("g.Kernel(spec=kernels.scale, backend='cpu')", ["scale"]),
        ("g.AutoKernel(kernels.other)", ["two"]),
        ("g.RawKernel(kernels.raw, 'cpu')", ["raw"]),
        ("g.RawKernel('raw', 'cpu')", ["raw"]),
        ("g.Kernel(kernels.add, 'cpu')", ["add"]),
        ("g.AutoKernel(kernels.total)", ["total_of"]),
        ("g.kernel_by_name('pick', 'cpu')", ["pick"]),
        ("g.load('x').kernel_by_name('both', 'cpu')", ["both"]),
        ("g.kernel_by_name('axpy_f64', 'cpu')", ["axpy[f64]"]),
        ("g.kernel_by_name('mixed_f32_i32', 'cpu')", ["mixed[f32,i32]"]),
        ("g.AutoKernel(kernels.late)", ["late_kernel"]),
        # aliases
        ("from gompute import Kernel as K\nK(kernels.scale, 'cpu')", ["scale"]),
        ("from gompute import *\nAutoKernel(kernels.scale)", ["scale"]),
        ("from kernels import *\ng.AutoKernel(scale)", ["scale"]),
        ("from kernels import scale as s\ng.AutoKernel(s)", ["scale"]),
        ("import kernels as k\ng.AutoKernel(k.scale)", ["scale"]),
        ("import gompute.handles.kernel\ngompute.handles.kernel.Kernel(kernels.scale, 'cpu')", ["scale"]),
        ("K = g.Kernel\nK(kernels.scale, 'cpu')", ["scale"]),
        ("by_name = g.load('x').kernel_by_name\nby_name('raw', 'cpu')", ["raw"]),
        ("import functools\nf = functools.partial(g.Kernel, backend='cpu')\nf(kernels.scale)", ["scale"]),
        ("import importlib\ng.AutoKernel(importlib.import_module('kernels').scale)", ["scale"]),
        ("class Mine(g.Kernel):\n    pass\nMine(kernels.scale, 'cpu')", ["scale"]),
        (
            "class Mine(g.Kernel):\n    def __init__(self, spec):\n        super().__init__(spec, 'cpu')\nMine(kernels.scale)",
            ["scale"],
        ),
        # rebinding and choices
        ("s = kernels.scale\nt = s\ng.AutoKernel(t)", ["scale"]),
        ("import sys\ns = kernels.scale if len(sys.argv) else kernels.pick\ng.AutoKernel(s)", ["pick", "scale"]),
        ("s = None\nif g:\n    s = kernels.scale\nelse:\n    s = kernels.raw\ng.RawKernel(s, 'cpu')", ["raw", "scale"]),
        ("s, t = kernels.scale, kernels.pick\ng.AutoKernel(t)", ["pick"]),
        ("first, *rest = [kernels.scale, kernels.pick, kernels.both]\nfor s in rest:\n    g.AutoKernel(s)", ["both", "pick", "scale"]),
        ("if (s := kernels.scale):\n    g.AutoKernel(s)", ["scale"]),
        ("try:\n    s = kernels.scale\nexcept ValueError:\n    s = kernels.pick\nfinally:\n    g.AutoKernel(s)", ["pick", "scale"]),
        ("def f():\n    global S\n    S = kernels.scale\ng.AutoKernel(S)", ["scale"]),
        ("match kernels.scale:\n    case s:\n        g.AutoKernel(s)", ["scale"]),
        ("g.AutoKernel(getattr(kernels, 'scale'))", ["scale"]),
        # classes
        ("class A:\n    s = kernels.scale\n    def run(self):\n        g.AutoKernel(self.s)", ["scale"]),
        (
            "class A:\n    def __init__(self, s):\n        self.s = s\n    def run(self):\n        g.AutoKernel(self.s)\nA(kernels.pick)",
            ["pick"],
        ),
        (
            (
                "class A:\n    s = None\n    def run(self):\n        g.AutoKernel(self.s)\n"
                "class B(A):\n    s = kernels.scale\nclass C(A):\n    s = kernels.both"
            ),
            ["both", "scale"],
        ),
        ("class A:\n    @property\n    def s(self):\n        return kernels.scale\ng.AutoKernel(A().s)", ["scale"]),
        ("class A:\n    @staticmethod\n    def run(s):\n        g.AutoKernel(s)\nA.run(kernels.scale)", ["scale"]),
        ("class A:\n    s = kernels.scale\n    @classmethod\n    def run(cls):\n        g.AutoKernel(cls.s)", ["scale"]),
        (
            (
                "import dataclasses\n@dataclasses.dataclass\nclass Job:\n    s: object\n    n: int = 0\ndef go(job):\n    "
                "g.AutoKernel(job.s)\ngo(Job(kernels.scale))"
            ),
            ["scale"],
        ),
        # functions
        ("def f():\n    def inner():\n        g.AutoKernel(kernels.scale)\n    return inner", ["scale"]),
        ("def f(s):\n    g.AutoKernel(s)\nf(kernels.scale)\nf(s=kernels.pick)", ["pick", "scale"]),
        ("def f(s=kernels.scale):\n    g.AutoKernel(s)", ["scale"]),
        ("def f(*all):\n    for s in all:\n        g.AutoKernel(s)\nf(kernels.scale, kernels.pick)", ["pick", "scale"]),
        ("def f(**all):\n    g.AutoKernel(all['s'])\nf(s=kernels.scale, t=kernels.pick)", ["scale"]),
        ("def f(s):\n    g.AutoKernel(s)\nf(*[kernels.scale])\nf(**{'s': kernels.pick})", ["pick", "scale"]),
        ("def f():\n    return kernels.scale\ng.AutoKernel(f())", ["scale"]),
        ("f = lambda s: g.AutoKernel(s)\nf(kernels.scale)", ["scale"]),
        ("def f():\n    yield kernels.scale\nfor s in f():\n    g.AutoKernel(s)", ["scale"]),
        (
            "import contextlib\n@contextlib.contextmanager\ndef f():\n    yield kernels.scale\nwith f() as s:\n    g.AutoKernel(s)",
            ["scale"],
        ),
        ("import threading\ndef f(s):\n    g.AutoKernel(s)\nthreading.Thread(target=f, args=(kernels.scale,)).start()", ["scale"]),
        (
            (
                "import functools\ndef deco(f):\n    @functools.wraps(f)\n    def inner(*a):\n        return f(*a)\n    return inner\n"
                "@deco\ndef go(s):\n    g.AutoKernel(s)\ngo(kernels.scale)"
            ),
            ["scale"],
        ),
        ("async def f():\n    async with g.AutoKernel(kernels.scale) as k:\n        await k", ["scale"]),
        # containers and comprehensions
        ("[g.AutoKernel(s) for s in (kernels.scale, kernels.pick)]", ["pick", "scale"]),
        ("{n: g.AutoKernel(s) for n, s in {'a': kernels.scale}.items()}", ["scale"]),
        ("list(map(g.AutoKernel, [kernels.scale]))", ["scale"]),
        ("for i, s in enumerate([kernels.scale]):\n    g.AutoKernel(s)", ["scale"]),
        ("for a, s in zip('ab', [kernels.scale, kernels.pick]):\n    g.AutoKernel(s)", ["pick", "scale"]),
        ("D = {'a': kernels.scale, 'b': kernels.pick}\ng.AutoKernel(D['a'])", ["scale"]),
        ("D = {'a': kernels.scale, 'b': kernels.pick}\ndef f(n):\n    g.AutoKernel(D[n])", ["pick", "scale"]),
        ("D = {}\nD['a'] = kernels.scale\nfor s in D.values():\n    g.AutoKernel(s)", ["scale"]),
        ("L = []\nL.append(kernels.scale)\nL += [kernels.pick]\nfor s in L:\n    g.AutoKernel(s)", ["pick", "scale"]),
        ("for n in ['raw', 'pick']:\n    g.kernel_by_name(n, 'cpu')", ["pick", "raw"]),
        ("for n in ('f32', 'f64'):\n    g.kernel_by_name(f'axpy_{n}', 'cpu')", ["axpy[f32]", "axpy[f64]"]),
        ("g.kernel_by_name('axpy_' + 'f32', 'cpu')", ["axpy[f32]"]),
        # generic kernels
        ("g.AutoKernel(kernels.axpy[f32])", ["axpy[f32]"]),
        ("g.AutoKernel(kernels.mixed[f64, g.i32])", ["mixed[f64,i32]"]),
        ("A = kernels.axpy\nB = A[g.f64]\ng.AutoKernel(B)", ["axpy[f64]"]),
        ("g.AutoKernel(kernels.doubled[f32])\ng.AutoKernel(kernels.chained[f64])", ["chained[f64]", "doubled[f32]"]),
        ("def run(t, x):\n    g.AutoKernel(kernels.axpy[t]).run(x)\nrun(f32, 1)\nrun(f64, 2)", ["axpy[f32]", "axpy[f64]"]),
        ("for t in (f32, f64):\n    g.AutoKernel(kernels.axpy[t])", ["axpy[f32]", "axpy[f64]"]),
        ("TYPES = {'single': f32}\ndef f(n):\n    g.AutoKernel(kernels.axpy[TYPES[n]])", ["axpy[f32]"]),
        # passed on to code that is not read
        ("import somewhere\nsomewhere.launch_all([kernels.scale])", ["scale"]),
        # no launches
        ("print(kernels.scale, isinstance(kernels.pick, g.Kernel))\nkernels.scale(2.0)\ndef f(k: g.Kernel) -> g.AutoKernel: ...", []),
    ],
)
def test_a_launch_is_found(tmp_path: Path, host: str, found: list[str]) -> None:
    assert launched(tmp_path, host) == found


def test_the_types_of_a_function_of_another_module(tmp_path: Path) -> None:
    more = "import typing\nfrom gompute import f32, f64\nS = typing.TypeVar('S', f32, f64)\ndef square(x: S) -> S:\n    return x * x\n"
    files = {"more.py": more, "kernels.py": KERNELS + "\nfrom more import square\nsquared = g.unary('squared', square)\n"}
    assert launched(tmp_path, "g.AutoKernel(kernels.squared[f32])", **files) == ["squared[f32]"]


def test_packages_and_what_they_re_export(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "app/__init__.py": "from .shared import scale as exported\nfrom . import shared\n",
            "app/shared.py": "from kernels import *\nfrom kernels import pick as hidden\n",
            "app/deep/__init__.py": "",
            "app/deep/run.py": """
                import gompute as g
                from .. import exported, shared
                from ...nothing import missing
                import app.shared

                def main():
                    g.AutoKernel(exported)
                    g.AutoKernel(shared.hidden)
                    g.RawKernel(app.shared.raw, "cpu")
                """,
            "plain/inside.py": "import gompute as g\n",
            "main.py": "import plain.inside as p\nimport kernels\np.g.AutoKernel(kernels.both)\n",
        },
    )
    found = scanned(tmp_path, "app", "main.py").manifest
    assert found.kernels == {"image": {"both": (), "pick": (), "raw": (), "scale": ()}}
    assert found.call_sites == {
        "image": {"both": ("main.py:3",), "pick": ("app/deep/run.py:9",), "raw": ("app/deep/run.py:10",), "scale": ("app/deep/run.py:8",)}
    }


def test_an_imported_module_beside_the_program_is_read_too(tmp_path: Path) -> None:
    write(tmp_path, {"main.py": "import part\n", "part.py": "import gompute as g, kernels\ng.AutoKernel(kernels.scale)\n"})
    assert scanned(tmp_path, "main.py").manifest.kernels == {"image": {"scale": ()}}


def test_environments_and_hidden_folders_are_passed_over(tmp_path: Path) -> None:
    broken = "this is no Python"
    write(tmp_path, {"a.py": "", ".git/b.py": broken, "env/lib/c.py": broken, "env/pyvenv.cfg": "", "__pycache__/d.py": broken})
    assert scanned(tmp_path, ".").manifest.kernels == {}


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ("def f(s):\n    g.AutoKernel(s)", "host.py:3:5: the kernel of this AutoKernel, `s`, cannot be known from the source"),
        (
            "import sys\ng.kernel_by_name(sys.argv[1], 'cpu')",
            "host.py:3:1: the kernel of this kernel_by_name, `sys.argv[1]`, cannot be known",
        ),
        (
            "import os\ng.kernel_by_name(os.environ.get('K', 'raw'), 'cpu')",
            "host.py:3:1: the kernel of this kernel_by_name, `os.environ.get(",
        ),
        (
            "g.AutoKernel(getattr(kernels, input()))",
            "host.py:2:1: the kernel of this AutoKernel, `getattr(kernels, input())`, cannot be known",
        ),
        ("from elsewhere import s\ng.AutoKernel(s)", "host.py:3:1: the kernel of this AutoKernel, `s`, cannot be known"),
        ("g.AutoKernel(1)", "host.py:2:1: `1` is not a kernel"),
        ("g.AutoKernel('scale')", "host.py:2:1: `'scale'` is not a kernel"),
        ("g.AutoKernel()", "host.py:2:1: the kernel of this AutoKernel is not among its arguments in the source"),
        ("import elsewhere\nelsewhere.run(g.AutoKernel)", "the kernel of this AutoKernel"),
        ("g.AutoKernel(kernels.axpy)", "host.py:2:1: 'axpy' is generic, and this launches no instance of it"),
        ("g.AutoKernel(kernels.doubled)", "host.py:2:1: 'doubled' is generic, and this launches no instance of it"),
        ("g.AutoKernel(kernels.chained[g.i32])", "host.py:2:1: chained[i32] is no instance of 'chained' of root 'image'"),
        ("g.kernel_by_name('axpy', 'cpu')", "'axpy' is generic, and this launches no instance of it"),
        ("def f(t):\n    g.AutoKernel(kernels.axpy[t])", "host.py:3:5: the types of this instance of 'axpy' cannot be known"),
        ("g.AutoKernel(kernels.axpy[g.i32])", "host.py:2:1: axpy[i32] is no instance of 'axpy' of root 'image'"),
        ("g.AutoKernel(kernels.mixed[g.f32])", "mixed[f32] is no instance of 'mixed' of root 'image'"),
        ("g.AutoKernel(kernels.scale[g.f32])", "'scale' is not generic, so it has no instance scale[f32]"),
        ("g.kernel_by_name('scal', 'cpu')", "host.py:2:1: no root makes a kernel 'scal' (did you mean 'scale'?), and this launches it"),
        ("g.kernel_by_name('axpy_i32', 'cpu')", "no root makes a kernel 'axpy_i32' (did you mean"),
        (
            "@g.map\ndef mine(x: f32) -> f32:\n    return x\ng.AutoKernel(mine)",
            "'mine' of host.py is launched, and no kernel root makes it",
        ),
        ("g.AutoKernel(kernels.scale) # gompute: keep nothing", "# gompute: keep nothing: no root makes a kernel 'nothing'"),
        ("def f(s):\n    g.AutoKernel(s) # gompute: keep axpy[i64]", "# gompute: keep axpy[i64]: axpy[i64] is no instance of 'axpy'"),
    ],
)
def test_what_cannot_be_known_or_is_wrong_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"host.py": f"import gompute as g, kernels; from gompute import f32\n{host}\n"})
    with pytest.raises(CompileError) as caught:
        scanned(tmp_path, "host.py")
    assert says in str(caught.value)


def test_the_whole_text_of_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"host.py": "import gompute as g, kernels\ndef f(s):\n    g.Kernel(s, 'cpu')\ng.AutoKernel(kernels.axpy[g.i8])\n"})
    with pytest.raises(CompileError) as caught:
        scanned(tmp_path, "host.py")
    assert str(caught.value) == (
        "host.py:3:5: the kernel of this Kernel, `s`, cannot be known from the source\n"
        "        g.Kernel(s, 'cpu')\n"
        "        ^~~~~~~~~~~~~~~~~~\n"
        '  name the kernel here, or declare it: # gompute: keep NAME at this line, or keep = ["NAME"] in [tool.gompute] of pyproject.toml\n'
        "\n"
        "host.py:4:1: axpy[i8] is no instance of 'axpy' of root 'image'\n"
        "    g.AutoKernel(kernels.axpy[g.i8])\n"
        "    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "  its types are T: f32, f64; launch one of these, or add a type to the kernel\n"
        "\n"
        "2 faults in host.py"
    )


def test_keep_at_the_line_declares_a_launch(tmp_path: Path) -> None:
    host = """
        def f(s):
            g.AutoKernel(
                s,  # gompute: keep scale, image.axpy[f32]
            )
            g.AutoKernel(s)  # gompute: keep mixed
        """
    assert launched(tmp_path, host) == [
        *("axpy[f32]", "mixed[f32,i32]", "mixed[f32,u32]", "mixed[f64,i32]", "mixed[f64,u32]", "scale"),
    ]


def test_keep_of_the_project_declares_all_launches_that_cannot_be_known(tmp_path: Path) -> None:
    write(tmp_path, {"host.py": "import gompute as g\ndef f(s):\n    g.AutoKernel(s)\n"})
    found = scanned(tmp_path, "host.py", keep=("pick", "image.axpy[f64]"))
    assert found.manifest.kernels == {"image": {"axpy": ("f64",), "pick": ()}}
    assert found.notes == (
        (
            "host.py:3: the kernel of this AutoKernel, `s`, cannot be known from the source; "
            "it is taken to be one of those that [tool.gompute] keeps: pick, image.axpy[f64]"
        ),
    )
    for wrong, says in (
        ("zzz", "[tool.gompute] keep 'zzz': no root makes a kernel 'zzz'"),
        ("film.pick", "there is no root 'film'; the roots are image"),
        ("axpy[i8]", "axpy[i8] is no instance of 'axpy'"),
        ("a b", 'write a kernel\'s name: "KERNEL", "ROOT.KERNEL" or "KERNEL[f32]"'),
    ):
        with pytest.raises(CompileError) as caught:
            scanned(tmp_path, "host.py", keep=(wrong,))
        assert says in str(caught.value)


def test_names_that_a_root_computes_can_be_kept(tmp_path: Path) -> None:
    computed = "import gompute as g\nfrom gompute import f32, u32\nfor n in range(3):\n    g.gather(f'pick_{n * 2}', f32, u32)\n"
    write(tmp_path, {"computed.py": computed, "host.py": "import gompute as g\ng.kernel_by_name('pick_4', 'cpu')\n"})
    roots = [RootSource("image", (tmp_path / "kernels.py",)), RootSource("many", (tmp_path / "computed.py",))]
    found = scan([tmp_path / "host.py"], roots, keep=("many.pick_0",), base=tmp_path)
    assert found.manifest.kernels == {"many": {"pick_0": (), "pick_4": ()}}


def test_a_root_of_another_compiler_is_launched_by_the_names_that_it_has(tmp_path: Path) -> None:
    write(tmp_path, {"host.py": "import gompute as g\ng.RawKernel('raw_scale', 'cuda')\n"})
    roots = [RootSource("zig", (tmp_path / "zig.ll",), ("raw_add", "raw_scale"))]
    assert scan([tmp_path / "host.py"], roots, base=tmp_path).manifest.kernels == {"zig": {"raw_scale": ()}}


def test_without_declared_roots_every_module_with_kernels_is_one(tmp_path: Path) -> None:
    write(tmp_path, {"host.py": "import gompute as g\nimport kernels\ng.AutoKernel(kernels.late)\ng.AutoKernel(kernels.scale)\n"})
    assert scan([tmp_path], None, base=tmp_path).manifest.kernels == {"kernels": {"late_kernel": (), "scale": ()}}


def test_a_file_that_is_no_python_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"host.py": "def f(:\n"})
    with pytest.raises(CompileError, match=r"host.py:1:\d+: SyntaxError"):
        scanned(tmp_path, "host.py")
    with pytest.raises(CompileError, match="there is no Python file"):
        (tmp_path / "empty").mkdir()
        scanned(tmp_path, "empty")


def test_the_code_is_never_run_and_its_order_changes_nothing(tmp_path: Path) -> None:
    lines = [f"g.AutoKernel({name})" for name in ("kernels.scale", "kernels.pick", "kernels.axpy[g.f64]", "kernels.axpy[g.f32]")]
    head = "import gompute as g, kernels, pathlib\npathlib.Path('ran').touch()\nraise SystemExit\n"
    write(tmp_path, {"one.py": head + "\n".join(lines), "two.py": head + "\n\n".join(lines[::-1])})
    assert scanned(tmp_path, "one.py").manifest.kernels == scanned(tmp_path, "two.py").manifest.kernels
    assert list(scanned(tmp_path, "one.py").manifest.kernels["image"]) == ["axpy", "pick", "scale"]
    assert not (tmp_path / "ran").exists()


def test_deep_and_endless_code_ends(tmp_path: Path) -> None:
    chain = "".join(f"{'el' if n else ''}if x == {n}:\n    g.AutoKernel(kernels.scale)\n" for n in range(600))
    endless = "name = 'a'\nwhile name:\n    name = name + 'a'\n    x = [x]\n"
    total = "y = " + " + ".join(["x"] * 2000) + "\n"
    host = f"import gompute as g, kernels\nx = 1\n{endless}{total}{chain}"
    write(tmp_path, {"host.py": host})
    assert scanned(tmp_path, "host.py").manifest.kernels == {"image": {"scale": ()}}

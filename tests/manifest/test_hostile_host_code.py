"""Host code that hides its launches: each is found, or an error tells that it cannot be known; none is passed over."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gompute.errors import CompileError
from tests.manifest.test_scan import launched, scanned, write

HEAD = "import gompute as g, kernels\n"
LAUNCH = f"{HEAD}g.AutoKernel(kernels.scale)\n"


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("match [1, kernels.scale]:\n    case [_, *rest]:\n        g.AutoKernel(rest[0])", ["scale"]),
        (
            (
                "import dataclasses\n@dataclasses.dataclass\nclass J:\n    s: object = None\n"
                "j = dataclasses.replace(J(), s=kernels.scale)\ng.AutoKernel(j.s)"
            ),
            ["scale"],
        ),
        ("def reg(cls):\n    g.AutoKernel(cls.s)\n    return cls\n@reg\nclass A:\n    s = kernels.scale", ["scale"]),
        (
            (
                "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as p:\n"
                "    p.submit(g.AutoKernel, kernels.scale)\n    p.map(g.AutoKernel, [kernels.pick])"
            ),
            ["pick", "scale"],
        ),
        ("import operator\noperator.methodcaller('AutoKernel', kernels.scale)(g)", ["scale"]),
        ("x: g.AutoKernel(kernels.scale) = 1", ["scale"]),
        ("def f(x: g.AutoKernel(kernels.scale)): pass", ["scale"]),
        ("def f() -> g.AutoKernel(kernels.scale): pass", ["scale"]),
        ("a = {}\ndel a[g.AutoKernel(kernels.scale)]", ["scale"]),
        ("try: pass\nexcept g.AutoKernel(kernels.scale): pass", ["scale"]),
        (
            ("class M(g.Kernel):\n    def __init__(self, s):\n        g.Kernel.__init__(self, s, 'cpu')\nM(kernels.scale)"),
            ["scale"],
        ),
        (
            (
                "import itertools\nfor s in itertools.chain([kernels.scale], [kernels.pick]): g.AutoKernel(s)\n"
                "for s, t in itertools.product([kernels.both], [f32]): g.AutoKernel(s)"
            ),
            ["both", "pick", "scale"],
        ),
        ("import ext\next.x = kernels.scale\next.go()", ["scale"]),
        ("import ext\next.D['a'] = kernels.scale", ["scale"]),
        ("import ext\no = ext.Thing()\no.s = kernels.scale\no.go()", ["scale"]),
        ("import ext\next.launch_all(kernels)", None),
        ("import ext\nclass A:\n    s = kernels.scale\next.launch(A)", ["scale"]),
        ("import ext\nclass A:\n    def __init__(self): self.s = kernels.scale\next.launch(A())", ["scale"]),
        ("import functools\nmk = functools.partial(g.Kernel, spec=kernels.scale)\nmk(backend='cpu')", ["scale"]),
        (
            (
                "import functools\nclass A:\n    def go(self, s): g.AutoKernel(s)\n"
                "    run = functools.partialmethod(go, kernels.scale)\nA().run()"
            ),
            ["scale"],
        ),
        ("f = lambda s=kernels.scale: g.AutoKernel(s)\nf()", ["scale"]),
        ("match {'a': kernels.scale}:\n    case {'a': s}:\n        g.AutoKernel(s)", ["scale"]),
        ("with g.Kernel(kernels.scale, 'cpu') as a, g.AutoKernel(kernels.pick) as b:\n    pass", ["pick", "scale"]),
        (
            (
                "import dataclasses\n@dataclasses.dataclass\nclass J:\n"
                "    s: object = dataclasses.field(default=kernels.scale)\ng.AutoKernel(J().s)"
            ),
            ["scale"],
        ),
        (
            (
                "import dataclasses\n@dataclasses.dataclass\nclass J:\n"
                "    s: list = dataclasses.field(default_factory=lambda: [kernels.scale])\n    def go(self):\n"
                "        for x in self.s: g.AutoKernel(x)"
            ),
            ["scale"],
        ),
        (
            ("import typing\nclass P(typing.NamedTuple):\n    s: object\np = P(kernels.scale)\ng.AutoKernel(p.s)\ng.AutoKernel(p[0])"),
            None,
        ),
        ("import enum\nclass E(enum.Enum):\n    A = kernels.scale\ng.AutoKernel(E.A.value)", None),
        ("class A: pass\nfor n, s in [('a', kernels.scale)]:\n    setattr(A, n, s)\ng.AutoKernel(A.a)", ["scale"]),
        ("import sys\ng.AutoKernel(sys.modules['kernels'].scale)", None),
        ("eval('g.AutoKernel')(kernels.scale)", None),
        ("getattr(g, 'AutoKernel')(kernels.scale)", ["scale"]),
        ("getattr(g, input())(kernels.scale)", ["scale"]),
        (
            ("try:\n    from fast import scale\nexcept ImportError:\n    from kernels import scale\ng.AutoKernel(scale)"),
            None,
        ),
        ("def f():\n    import kernels as kk\n    g.AutoKernel(kk.scale)", ["scale"]),
        (
            (
                "class M(type):\n    def __new__(m, n, b, d):\n        g.AutoKernel(d['s'])\n"
                "        return super().__new__(m, n, b, d)\nclass A(metaclass=M):\n    s = kernels.scale"
            ),
            None,
        ),
        (
            ("class B:\n    def __init_subclass__(cls):\n        g.AutoKernel(cls.s)\nclass A(B):\n    s = kernels.scale"),
            ["scale"],
        ),
        (
            (
                "class D:\n    def __init__(self, s): self.s = s\n"
                "    def __get__(self, o, t): return g.AutoKernel(self.s)\nclass A:\n    k = D(kernels.scale)\nA().k"
            ),
            ["scale"],
        ),
        ("class P:\n    def __getattr__(self, n): return kernels.scale\ng.AutoKernel(P().anything)", None),
        ("class P:\n    def __add__(self, o): return kernels.scale\ng.AutoKernel(P() + 1)", None),
        ("try:\n    pass\nexcept* ValueError as e:\n    g.AutoKernel(kernels.scale)", ["scale"]),
        (
            (
                "async def gen():\n    yield kernels.scale\nasync def f():\n    async for s in gen(): g.AutoKernel(s)\n"
                "    [g.AutoKernel(t) async for t in gen()]"
            ),
            ["scale"],
        ),
        ("def f():\n    s = yield\n    g.AutoKernel(s)\nc = f()\nnext(c)\nc.send(kernels.scale)", None),
        ("import functools\nfunctools.reduce(lambda a, s: g.AutoKernel(s), [kernels.scale], None)", ["scale"]),
        ("import contextvars\nv = contextvars.ContextVar('v', default=kernels.scale)\ng.AutoKernel(v.get())", None),
        ("import queue\nq = queue.Queue()\nq.put(kernels.scale)\ng.AutoKernel(q.get())", ["scale"]),
        ("import operator\ng.AutoKernel(operator.attrgetter('scale')(kernels))", None),
        ("import weakref\ng.AutoKernel(weakref.ref(kernels.scale)())", None),
        (
            (
                "import functools\n@functools.singledispatch\ndef k(x, s): pass\n@k.register\n"
                "def _(x: int, s): g.AutoKernel(s)\nk(1, kernels.scale)"
            ),
            None,
        ),
        ("T = type('T', (), {'s': kernels.scale})\ng.AutoKernel(T.s)", None),
        ("class A:\n    s = kernels.scale\n    def go(self): g.AutoKernel(self.__class__.s)", ["scale"]),
        ("for n in ('sca',):\n    g.kernel_by_name('{}le'.format(n), 'cpu')", None),
        ("g.kernel_by_name('xscale'[1:], 'cpu')", None),
        ("g.kernel_by_name(kernels.axpy[f32].name, 'cpu')", None),
        ("import collections\nd = collections.defaultdict(lambda: kernels.scale)\ng.AutoKernel(d['x'])", None),
        ("d = dict.fromkeys('ab', kernels.scale)\ng.AutoKernel(d['a'])", None),
        ("d = dict(zip('ab', [kernels.scale, kernels.pick]))\ng.AutoKernel(d['a'])", ["pick", "scale"]),
        ("l = [None, None]\nl[:] = [kernels.scale, kernels.pick]\ng.AutoKernel(l[0])", ["pick", "scale"]),
        (
            ("def f():\n    s = None\n    def h():\n        nonlocal s\n        s = kernels.scale\n    h()\n    g.AutoKernel(s)"),
            ["scale"],
        ),
        ("class A:\n    def go(self): pass\ndef new(self): g.AutoKernel(kernels.scale)\nA.go = new", ["scale"]),
        (
            (
                "R = {}\ndef reg(n):\n    def d(f):\n        R[n] = f\n        return f\n    return d\n@reg('a')\n"
                "def a(s): g.AutoKernel(s)\nR['a'](kernels.scale)"
            ),
            ["scale"],
        ),
        ("a = {}\nfor a[g.AutoKernel(kernels.scale)] in []: pass", ["scale"]),
        ("a = {}\n[0 for a[g.AutoKernel(kernels.scale)] in []]", ["scale"]),
        ("raise g.AutoKernel(kernels.scale)", ["scale"]),
        ("g.AutoKernel(kernels.axpy['f32'])", None),
        ("def go(ks): return ks.kernel_by_name('raw', 'cpu')", ["raw"]),
        (
            ("class M(g.Kernel):\n    def __init__(self, spec=kernels.scale):\n        super().__init__(spec, 'cpu')\nM()"),
            ["scale"],
        ),
        ("import importlib\nm = importlib.import_module(input())\ng.AutoKernel(m.scale)", None),
        ("for s in vars(kernels).values():\n    g.AutoKernel(s)", None),
        ("rows = [(kernels.scale, 1)]\nfor s, in zip(*rows): g.AutoKernel(s)", None),
        (
            (
                "class E(Exception):\n    def __init__(self, s): self.s = s\ntry:\n    raise E(kernels.scale)\n"
                "except E as e:\n    g.AutoKernel(e.s)"
            ),
            None,
        ),
        (
            (
                "import torch\nclass M(torch.nn.Module):\n    def __init__(self, s):\n        super().__init__()\n"
                "        self.s = s\n    def forward(self): g.AutoKernel(self.s)\nM(kernels.scale)"
            ),
            ["scale"],
        ),
        ("import ext\ndef cb(s): g.AutoKernel(s)\next.register(cb, kernels.scale)", None),
        ("import ext\next.L.append(kernels.scale)", ["scale"]),
        (
            (
                "import typing\nif typing.TYPE_CHECKING:\n    from nowhere import scale\nelse:\n"
                "    from kernels import scale\ng.AutoKernel(scale)"
            ),
            None,
        ),
    ],
)
def test_a_hidden_launch_is_found_or_is_an_error(tmp_path: Path, host: str, found: list[str] | None) -> None:
    """`found` is None where the launch cannot be known."""
    if found is not None:
        assert launched(tmp_path, host) == found
        return
    with pytest.raises(CompileError, match=r"host\.py:\d+:\d+: .*(cannot be known|no instance of it)"):
        launched(tmp_path, host)


def test_code_that_is_run_from_a_text_and_names_a_launcher_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="the kernel of this AutoKernel, `'g.AutoKernel"):
        launched(tmp_path, "exec('g.AutoKernel(kernels.scale)')")
    assert launched(tmp_path, "exec('print(1)', {'k': kernels.scale})") == ["scale"]


def test_a_generic_kernel_that_goes_to_code_that_is_not_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="'axpy' is generic, and this launches no instance of it"):
        launched(tmp_path, "import ext\next.run(kernels.axpy)")


@pytest.mark.parametrize(
    "files",
    [
        {
            "a.py": "from b import *\nimport gompute as g\nK = g.AutoKernel\n",
            "b.py": "from a import *\nfrom kernels import *\n",
            "host.py": "from a import K, scale\nK(scale)\n",
        },
        {"host.py": f"{HEAD}import host\nhost.g.AutoKernel(host.kernels.scale)\n"},
        {
            "p/__init__.py": "from .a import f\n",
            "p/a.py": "from . import b\ndef f():\n    b.go()\n",
            "p/b.py": f"from .a import f\n{HEAD}def go():\n    g.AutoKernel(kernels.scale)\n",
            "host.py": "import p\n",
        },
        {"ns/deep/mod.py": HEAD, "host.py": "from ns import deep\nimport ns.deep.mod as m\ndeep.mod.g.AutoKernel(m.kernels.scale)\n"},
        {
            "mid.py": "from kernels import scale as _scale\n__all__ = ['_scale']\n",
            "host.py": "import gompute as g\nfrom mid import *\ng.AutoKernel(_scale)\n",
        },
    ],
    ids=["star circle", "itself", "package circle", "namespaces", "underscore in __all__"],
)
def test_modules_however_they_import_one_another(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, files)
    assert scanned(tmp_path, "host.py").manifest.kernels == {"image": {"scale": ()}}


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + LAUNCH.encode(),
        b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + LAUNCH.encode(),
        LAUNCH.replace("\n", "\r\n").encode(),
        LAUNCH.replace("\n", "\r").encode(),
        f"{HEAD}x = '\u2028'\ndef f(s):\n    g.AutoKernel(s)  # gompute: keep scale\n".encode(),
        f"{HEAD}\x0c\ndef f(s):\r\n    g.AutoKernel(s)  # gompute: keep scale\r\n".encode(),
    ],
    ids=["byte order mark", "latin-1", "crlf", "cr", "line separator in a text", "form feed"],
)
def test_source_in_any_form_that_python_reads(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, {})
    (tmp_path / "host.py").write_bytes(data)
    assert scanned(tmp_path, "host.py").manifest.kernels == {"image": {"scale": ()}}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"# caf\xe9\n", "host.py: cannot read the source: invalid or missing encoding declaration"),
        (LAUNCH.encode("utf-16"), "host.py: cannot read the source: invalid or missing encoding declaration"),
        (b"# coding: nonsense\n", "host.py: cannot read the source: unknown encoding: nonsense"),
        (b"x = 1\n\0", "null bytes"),
        (f"x = {'-' * 5000}1\n".encode(), "host.py: an expression is nested too deeply for Python's parser; split it"),
    ],
)
def test_source_that_python_does_not_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, says: str) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {})
    (tmp_path / "host.py").write_bytes(data)
    with pytest.raises(CompileError) as caught:
        scanned(tmp_path, "host.py")
    assert says in str(caught.value)


def test_syntax_of_a_later_python_names_the_line_and_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"host.py": f"{HEAD}def f[T: (g.f32, g.f64)](t: T) -> T:\n    g.AutoKernel(kernels.axpy[t])\nf(g.f32)\n"})
    if sys.version_info >= (3, 12):
        assert scanned(tmp_path, "host.py").manifest.kernels == {"image": {"axpy": ("f32",)}}
        (tmp_path / "host.py").write_text("a syntax that never was\n")
    with pytest.raises(CompileError) as caught:
        scanned(tmp_path, "host.py")
    assert re.match(r"host\.py:\d:\d: SyntaxError: ", str(caught.value))
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert str(caught.value).endswith(f"\n  this is Python {version}; what is written for a later one has to be read by that")


def _linked(folder: Path) -> None:
    (folder / "app").mkdir()
    os.symlink("../other", folder / "app" / "linked")
    os.symlink(".", folder / "app" / "loop")


@pytest.mark.parametrize(
    ("files", "more"),
    [
        ({"other/x.py": LAUNCH}, _linked),
        ({"app/x.pyw": LAUNCH, "app/.#x.py": "no Python"}, lambda folder: os.symlink("nowhere", folder / "app" / ".#y.py")),
        ({"app/x.py": LAUNCH}, lambda folder: (folder / "app" / "y.py").mkdir()),
    ],
    ids=["links to folders", "hidden files", "a folder called y.py"],
)
def test_what_lies_in_a_folder(tmp_path: Path, files: dict[str, str], more: Callable[[Path], object]) -> None:
    write(tmp_path, files)
    more(tmp_path)
    assert scanned(tmp_path, "app").manifest.kernels == {"image": {"scale": ()}}


@pytest.mark.parametrize("make", [os.mkfifo, lambda file: os.symlink("nowhere", file)], ids=["pipe", "dangling link"])
def test_what_is_no_file_is_told_and_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    write(tmp_path, {"app/x.py": LAUNCH})
    make(tmp_path / "app" / "y.py")
    with pytest.raises(CompileError, match="it is no regular file"):
        scanned(tmp_path, "app")


@pytest.mark.parametrize(
    "host",
    [
        "import functools\nf = g.AutoKernel\nfor i in range(9):\n    f = functools.partial(f, *[])\nf(kernels.scale)",
        "import ext\nx = ext\nwhile x:\n    x = x.next()\ng.AutoKernel(kernels.scale)",
        "t = ()\nwhile t:\n    t = (t, t + (t,))\nd = {}\nd['d'] = d\nd.update(d)\ng.AutoKernel(kernels.scale)",
        "n = 'a'\nwhile n:\n    n = f'{n}b'\n    n += n\ng.AutoKernel(kernels.scale)",
    ],
)
def test_what_grows_without_end_ends(tmp_path: Path, host: str) -> None:
    assert launched(tmp_path, host) == ["scale"]


def test_a_text_that_grows_names_no_kernel(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="cannot be known"):
        launched(tmp_path, "n = 'sc'\nn += 'a'\nn += 'le'\nwhile n:\n    n = n + 'e'\ng.kernel_by_name(n, 'cpu')")

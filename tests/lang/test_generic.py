"""Generic kernels on the host: their instances, names and entries, and what is said where a type is missing or wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeVar

import pytest

import gompute as g
from gompute import f32, f64, i32, u8
from gompute.artifacts.describe import entry_of
from gompute.lang.spec import KernelSpec

T = TypeVar("T", f32, f64)
S = TypeVar("S", i32, u8, bool)
UNNAMED = TypeVar("UNNAMED")


@g.params
class Params:
    scale: f32


@g.map
def scale(x: T, p: Params) -> T:
    return x * T(p.scale)


@g.kernel(block_size=64, name="mix_them")
def mix(a: T, x: g.ptr[T], flags: g.ptr[S], p: Params) -> None:
    i = g.global_id(0)
    x[i] = a if flags[i] != S(0) else T(0)


@g.map
def nameless(x: UNNAMED) -> UNNAMED:
    return x


@g.map
def plain(x: f32) -> f32:
    return x


def test_an_instance_is_a_kernel_of_its_own_with_the_types_in_its_name() -> None:
    instance = scale[f64]
    assert isinstance(instance, KernelSpec)
    assert instance.name == "scale_f64"
    assert instance is scale[f64]
    assert entry_of(instance).signature.startswith("map(data: ptr[f64], len: u64, params: Params{")
    assert mix[f32, u8].name == "mix_them_f32_u8"
    assert entry_of(mix[f64, bool]).signature.startswith("kernel(a: f64, x: ptr[f64], flags: ptr[bool], p: Params{")


def test_instances_come_in_the_order_of_the_constraints() -> None:
    names = [instance.name for instance in mix.instances()]
    assert names == [f"mix_them_{t}_{s}" for t in ("f32", "f64") for s in ("i32", "u8", "bool")]
    assert [instance.name for instance in plain.instances()] == ["plain"]
    assert [instance.name for instance in scale[f32].instances()] == ["scale_f32"]


def test_a_host_call_of_an_instance_has_its_types() -> None:
    p = Params(0.1)
    assert scale[f32](3.0, p) == 0.30000001192092896
    assert scale[f64](3.0, p) == 3.0 * 0.10000000149011612


def test_a_fused_kernel_takes_instances() -> None:
    both = g.fused("both", scale[f32], scale[f32])
    assert entry_of(both).signature.startswith("fused(data: ptr[f32]")
    assert both(3.0, Params(0.5)) == 0.75
    generic = g.fused("any", scale, scale)
    assert [instance.name for instance in generic.instances()] == ["any_f32", "any_f64"]
    assert g.unary("u", plain).instances().__next__().name == "u"


def square(x: T) -> T:
    return x * x


def to_double(x: f32) -> f64:
    return f64(x)


def truth(x: S) -> bool:
    return bool(x)


def test_a_type_follows_from_what_stands_beside_it() -> None:
    """Of parts by what the one before gives and the next one takes; of `pre` and `combine` by each other and by the elements."""
    for parts, element in (((plain, square), "f32"), ((square, plain), "f32"), ((square, square, scale[f64], square), "f64")):
        made = g.fused("made", *parts)
        assert [instance.name for instance in made.instances()] == ["made"]
        assert entry_of(made).signature.startswith(f"fused(data: ptr[{element}]")
    assert g.fused("made", plain, square, block_size=64)(3.0) == 9.0
    assert entry_of(g.sum("made", f64, pre=square)).signature.startswith("sum(data: ptr[f64], partials: ptr[f64]")
    assert entry_of(g.any("made", bool, pre=truth)).signature.startswith("any(data: ptr[bool], partials: ptr[bool]")

    @g.reduce(identity=0, pre=to_double)
    def together(a: T, b: T) -> T:
        return a + b

    assert together.name == "together"
    assert entry_of(together).signature.startswith("reduce(data: ptr[f32], partials: ptr[f64]")

    @g.scan(pre=square)
    def products(a: f64, b: f64) -> f64:
        return a * b

    assert entry_of(products).signature.startswith("scan(in: ptr[f64], partials: ptr[f64]")
    # What meets a type that it is not for, or meets none, stays open.
    assert [instance.name for instance in g.sum("made", i32, pre=square).instances()] == ["made_f32", "made_f64"]
    assert [instance.name for instance in g.unary("made", square).instances()] == ["made_f32", "made_f64"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: scale[i32], "the kernel 'scale' has no instance [i32]; it is generic over T (f32, f64)"),
        (lambda: scale["f32"], "the kernel 'scale' has no instance [f32]; it is generic over T (f32, f64)"),
        (lambda: mix[f32], "the kernel 'mix_them' has no instance [f32]; it is generic over T (f32, f64) and S (i32, u8, bool)"),
        (lambda: plain[f32], "the kernel 'plain' is not generic; write plain alone"),
        (lambda: scale[f32][f32], "the kernel 'scale_f32' is not generic; write scale_f32 alone"),
        (
            lambda: nameless[f32],
            'the type parameter UNNAMED names no scalar types; write UNNAMED = TypeVar("UNNAMED", f32, f64)',
        ),
        (lambda: scale(1.0, Params(1.0)), "the kernel 'scale' is generic over T (f32, f64); choose an instance: scale[f32]"),
        (
            lambda: g.RawKernel(mix, "cpu"),
            "the kernel 'mix_them' is generic over T (f32, f64) and S (i32, u8, bool); choose an instance: mix_them[f32, i32]",
        ),
        (
            lambda: g.fused("chain", scale[f32], scale[f64]),
            (
                "g.fused: 'scale_f64' makes the type parameter T f64, and a part before it f32; "
                "give the functions type parameters of their own"
            ),
        ),
    ],
)
def test_a_wrong_instance_is_refused_in_words(wrong: Any, words: str) -> None:
    with pytest.raises(g.CompileError) as caught:
        wrong()
    assert str(caught.value) == words


NEWER = """
    from __future__ import annotations
    import gompute as g
    from gompute import f32, f64, ptr, u64

    def twice[N: (f32, f64)](x: N) -> N:
        return x + N(x)

    @g.map
    def double[N: (f32, f64)](x: N) -> N:
        return twice(x)

    @g.kernel
    def fill[N: (f32, f64)](data: ptr[N], n: u64) -> None:
        if g.global_id(0) < n:
            data[g.global_id(0)] = N(1)
"""


def _pythons() -> list[str]:
    """Every Python at hand that knows ``def f[T: (f32, f64)]``."""
    named = [sys.executable, *os.environ.get("GOMPUTE_TEST_PYTHONS", "").split(os.pathsep)]
    found = []
    for python in filter(None, named):
        done = subprocess.run([python, "-c", "import sys; print(sys.version_info >= (3, 12))"], capture_output=True, text=True, check=True)
        found += [python] if done.stdout.strip() == "True" else []
    return found


def test_the_newer_way_to_write_type_parameters(tmp_path: Path) -> None:
    pythons = _pythons()
    if not pythons:
        pytest.skip("there is no Python from 3.12 on here; name one in GOMPUTE_TEST_PYTHONS")
    for number, future in enumerate(("", "from __future__ import annotations")):
        source = tmp_path / f"newer{number}.py"
        source.write_text(dedent(NEWER).replace("from __future__ import annotations", future))
        code = (
            "import sys; from pathlib import Path; from gompute.frontend import compile_root; from gompute.targets import parse_target\n"
            "root = compile_root(Path(sys.argv[1]), name='newer', imports=None, target=parse_target('sm_75'))\n"
            "print([kernel.signature.split('(')[1].split(',')[0] for kernel in root.kernels], [kernel.name for kernel in root.kernels])"
        )
        environment = {"PYTHONPATH": str(Path(__file__).parents[2])}
        for python in pythons:
            done = subprocess.run([python, "-c", code, str(source)], env=environment, capture_output=True, text=True, check=False)
            assert done.stdout == (
                "['data: ptr[f32]', 'data: ptr[f64]', 'data: ptr[f32]', 'data: ptr[f64]'] "
                "['double_f32', 'double_f64', 'fill_f32', 'fill_f64']\n"
            ), done.stderr

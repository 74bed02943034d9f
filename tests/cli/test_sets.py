"""The commands on kernel sets that the real compiler made: `inspect`, `merge`, `run`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gompute.artifacts.kernel_set import KernelSet
from gompute.build.zygote import Zygote
from gompute.cli.app import run
from tests.cli.conftest import Done

Cli = Callable[..., Done]

KERNELS = """
import gompute as g
from gompute import bf16, f32, i32, u64

@g.params
class Inner:
    w: g.fixed[f32, 2]

@g.params
class Params:
    shift: i32
    on: bool
    inner: Inner

@g.map
def affine(x: f32, p: Params) -> f32:
    return x * p.inner.w[0] + p.inner.w[1] + f32(p.shift) if p.on else x

@g.map
def double(x: i32) -> i32:
    return x + x

@g.zip
def mean(a: f32, b: i32) -> g.f64:
    return (g.f64(a) + b) / 2

pick = g.gather("pick", i32, g.u8)
put = g.scatter("put", i32, g.i64)
top = g.max("top", g.bf16)

@g.kernel(block_size=64)
def raw_add(data: g.ptr[f32], n: u64):
    i = g.global_id(0)
    if i < n:
        data[i] += 1.0
"""


def _build(folder: Path, source: str, *arguments: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "kernels.py"
    file.write_text(source)
    assert run(["build", str(file), "-o", str(folder / "set"), *arguments], Zygote.start()) == 0
    return folder / "set"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("built"), KERNELS, "-t", "sm_89", "-t", "gfx1100", "-t", "x86-64-v3", "--emit", "cubin")


# ---- inspect ----


def test_inspect_shows_kernels_targets_resources_and_sizes(cli: Cli, built: Path) -> None:
    done = cli("inspect", built)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith(f"{built}: 7 kernels, 1 root, 4 blobs, ")
    assert any(line.split()[:4] == ["kernels", "sm_89", "ptx", f"{_size(built, 'sm_89.ptx')}"] and "PTX 7.8" in line for line in lines)
    assert any(line.split()[:3] == ["kernels", "gfx1100", "hsaco"] and "code object 5" in line and "lld" in line for line in lines)
    (row,) = [line.split() for line in lines if line.split()[:3] == ["raw_add", "kernels", "sm_89"]]
    assert row[3] == "64x1x1"
    registers, scalar_registers, shared, private, spills = row[4:]
    assert 4 <= int(registers) <= 64
    assert (scalar_registers, shared, private, spills) == ("-", "0", "0", "0")
    assert any(line.startswith("raw_add") and "ptr[f32]" in line for line in lines[-3:])


def _size(built: Path, ending: str) -> str:
    return f"{(built / f'kernels.{ending}').stat().st_size / 1000:.1f}"


def test_inspect_as_json_is_the_index(cli: Cli, built: Path) -> None:
    document = json.loads(cli("inspect", built, "--json").out)
    index = json.loads((built / "index.json").read_text())
    assert [(unit["root"], unit["target"]) for unit in document["units"]] == [
        ("kernels", "sm_89"),
        ("kernels", "gfx1100"),
        ("kernels", "x86-64-v3"),
    ]
    for unit in document["units"]:
        entry = index["roots"][unit["root"]][unit["target"]]
        assert {blob["file"]: blob["sha256"] for blob in unit["blobs"]} == {blob["file"]: blob["sha256"] for blob in _blobs(entry)}
        assert [kernel["name"] for kernel in unit["kernels"]] == ["affine", "double", "mean", "pick", "put", "raw_add", "top"]


def _blobs(entry: dict[str, object]) -> list[dict[str, str]]:
    blobs = entry["blobs"]
    return list(blobs.values()) if isinstance(blobs, dict) else blobs  # type: ignore[return-value]


def test_inspect_finds_a_damaged_blob(cli: Cli, built: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(built, broken)
    blob = broken / "kernels.gfx1100.hsaco"
    data = bytearray(blob.read_bytes())
    data[100] ^= 1
    blob.write_bytes(data)
    done = cli("inspect", broken)
    assert done.code == 1
    assert "kernels.gfx1100.hsaco" in done.err
    assert "sha256" in done.err


def test_inspect_of_no_set_says_how_to_make_one(cli: Cli, tmp_path: Path) -> None:
    done = cli("inspect", tmp_path)
    assert done.code == 1
    assert "gompute build" in done.err
    assert cli("inspect", tmp_path / "nowhere").code == 2
    assert cli("inspect", tmp_path, tmp_path, tmp_path).code == 2


def test_two_sets_are_compared(cli: Cli, built: Path, tmp_path: Path) -> None:
    assert cli("inspect", built, built).out == f"{built} and {built} are the same.\n"
    changed = KERNELS.replace("x + x", "x + x + 1").replace("block_size=64", "block_size=32").replace("raw_add", "raw_sum")
    other = _build(tmp_path, changed, "-t", "sm_89", "-t", "x86-64-v3", "-t", "gfx942")
    cli("targets")  # drops what the build has printed
    done = cli("inspect", built, other)
    assert done.code == 0
    lines = done.out.splitlines()
    for line in (
        f"root kernels for gfx1100: only in {built}",
        f"root kernels for gfx942: only in {other}",
        "root kernels for sm_89: a cubin was removed",
        "root kernels for sm_89: kernel raw_add was removed",
        "root kernels for sm_89: kernel raw_sum was added",
    ):
        assert line in lines
    assert any(line.startswith("root kernels for x86-64-v3: so: ") and "sha256" in line for line in lines)
    document = json.loads(cli("inspect", built, other, "--json").out)
    assert document["same"] is False
    assert len(document["differences"]) == len(lines)


def test_a_change_of_a_body_alone_is_told_as_that(cli: Cli, built: Path, tmp_path: Path) -> None:
    one = _build(tmp_path / "one", KERNELS, "-t", "sm_89")
    two = _build(tmp_path / "two", KERNELS.replace("x + x", "x + x + 1"), "-t", "sm_89")
    cli("targets")
    source, line = cli("inspect", one, two).out.splitlines()
    assert source.startswith("root kernels for sm_89: kernel ")
    assert source.endswith("it was compiled from other IR: source: the root's module changed")
    assert line.startswith("root kernels for sm_89: ptx: ")
    assert "options" not in line


RATES = "import gompute as g\n\nRATE = 2.0  # a year\n\n\ndef growth(x: g.f32) -> g.f32:\n    return x * RATE\n"
GROWS = """
import gompute as g
import rates
from deep import limits


@g.map
def grown(x: g.f32) -> g.f32:
    return rates.growth(x) + limits.LOWEST


@g.map
def same(x: g.f32) -> g.f32:
    return x
"""


def test_an_edit_is_told_apart_from_one_of_an_import(cli: Cli, tmp_path: Path) -> None:
    def build(name: str, source: str = GROWS, rates: str = RATES, limits: str = "LOWEST = 1.5\n") -> Path:
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "__init__.py").touch()
        (tmp_path / name / "deep" / "limits.py").write_text(limits)
        (tmp_path / name / "rates.py").write_text(rates)
        return _build(tmp_path / name, source, "-t", "sm_89")

    def told(old: Path, new: Path) -> list[str]:
        cli("targets")
        return [line for line in cli("inspect", old, new).out.splitlines() if " kernel " in line]

    first = build("first")
    place = "root kernels for sm_89: kernel grown: it was compiled from other IR: "
    assert told(first, build("rate", rates=RATES.replace("2.0", "3.0"))) == [f"{place}import: rates.py changed"]
    assert told(first, build("limit", limits="LOWEST = 2.5\n")) == [f"{place}import: deep/limits.py changed"]
    assert told(first, build("own", GROWS.replace("growth(x) +", "growth(x) -"))) == [f"{place}source: the root's module changed"]
    inlined = GROWS.replace("import rates\n", "").replace("rates.growth(x)", "x * 4.0")
    assert told(first, build("inlined", inlined)) == [f"{place}source: the root's module changed; import: rates.py is gone"]
    comments = build("comments", f"# grows\n{GROWS}", RATES.replace("  # a year", "  # yearly"), "# the lowest\n\nLOWEST = 1.5\n")
    assert cli("inspect", first, comments).out.endswith("are the same.\n")
    for name in ("index.json", "kernels.sm_89.ptx"):
        assert (first / name).read_bytes() == (comments / name).read_bytes()


def test_another_mode_is_told_as_an_option(cli: Cli, tmp_path: Path) -> None:
    source = KERNELS.replace("return x + x", "return x + (x if g.target.optimize == 'fast' else 1)")
    one = _build(tmp_path / "one", source, "-t", "sm_89")
    two = _build(tmp_path / "two", source, "-t", "sm_89", "--optimize", "safe")
    cli("targets")
    first, *others = cli("inspect", one, two).out.splitlines()
    assert first == "root kernels for sm_89: option: fast became safe"
    assert not [line for line in others if "source" in line or "the same tools" in line]
    assert [line.split()[5] for line in cli("inspect", two).out.splitlines() if line.startswith("kernels ") and " ptx " in line] == ["safe"]


def test_a_comment_makes_no_difference(cli: Cli, tmp_path: Path) -> None:
    one = _build(tmp_path / "one", KERNELS, "-t", "sm_89")
    two = _build(tmp_path / "two", "# a comment\n" + KERNELS, "-t", "sm_89")
    cli("targets")
    assert cli("inspect", one, two).out.endswith("are the same.\n")


# ---- merge ----


def test_sets_merge_and_a_clash_names_both(cli: Cli, tmp_path: Path) -> None:
    one = _build(tmp_path / "one", KERNELS, "-t", "sm_89")
    two = _build(tmp_path / "two", KERNELS, "-t", "x86-64-v3")
    cli("targets")
    done = cli("merge", one, two, "-o", tmp_path / "both")
    assert done.code == 0, done.err
    assert done.out.startswith(f"{tmp_path / 'both'}: 2 blobs, ")
    assert [target.name for target in KernelSet.open(tmp_path / "both").targets] == ["sm_89", "x86-64-v3"]
    again = _build(tmp_path / "again", KERNELS, "-t", "sm_89", "-t", "x86-64-v3")
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "both").iterdir()
    }
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / "others.py").write_text(KERNELS)
    assert run(["build", str(tmp_path / "three" / "others.py"), "-t", "sm_90", "-o", str(tmp_path / "three" / "set")], Zygote.start()) == 0
    done = cli("merge", one, tmp_path / "three" / "set", "-o", tmp_path / "clash")
    assert done.code == 1
    assert "kernels" in done.err
    assert "others" in done.err
    assert not (tmp_path / "clash").exists()
    assert cli("merge", "-o", tmp_path / "none").code == 2


# ---- run ----


def test_a_map_with_params_runs_on_a_copy(cli: Cli, built: Path, tmp_path: Path) -> None:
    data = np.linspace(-2, 2, 24, dtype=np.float32).reshape(2, 3, 4)
    np.save(tmp_path / "in.npy", np.asfortranarray(data))
    arguments = ["-p", "shift=-0x3", "-p", "inner.w=0.5,1e1", "-p", "on=true", "-o", tmp_path / "out.npy", "--backend", "cpu"]
    done = cli("run", built, "affine", tmp_path / "in.npy", *arguments)
    assert done.code == 0, done.err
    assert done.out == f"{tmp_path / 'out.npy'}: float32 2x3x4, by affine on cpu\n"
    wanted = data * np.float32(0.5) + np.float32(10) + np.float32(-3)
    assert np.array_equal(np.load(tmp_path / "out.npy"), wanted)
    assert np.array_equal(np.load(tmp_path / "in.npy"), data)


def test_a_map_without_params_runs_wherever_it_can(cli: Cli, built: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.arange(5, dtype=np.int32))
    done = cli("run", built, "double", tmp_path / "in.npy", "-o", tmp_path / "out.npy")
    assert done.code == 0, done.err
    assert np.load(tmp_path / "out.npy").tolist() == [0, 2, 4, 6, 8]


def test_operations_on_several_arrays_run(cli: Cli, built: Path, tmp_path: Path) -> None:
    arrays = {
        "a": np.array([[1, 2], [3, 4]], np.float32),
        "b": np.array([[5, 6], [7, 8]], np.int32),
        "at": np.array([[3, 0], [200, 1]], np.uint8),
        "kept": np.full((2, 2), -1, np.int32),
        "places": np.array([[4, -1], [0, 9]], np.int64),
        "five": np.full(5, -1, np.int32),
    }
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    out = tmp_path / "out.npy"
    for kernel, inputs, wanted in (
        ("mean", "a b", [[3, 4], [5, 6]]),
        ("pick", "b at", [[8, 5], [0, 6]]),
        ("pick", "b at kept", [[8, 5], [-1, 6]]),
        ("put", "b places five", [7, -1, -1, -1, 5]),
    ):
        done = cli("run", built, kernel, *(tmp_path / f"{name}.npy" for name in inputs.split()), "-o", out, "-b", "cpu")
        assert done.code == 0, done.err
        assert np.load(out).tolist() == wanted
        assert np.load(tmp_path / "kept.npy").tolist() == [[-1, -1], [-1, -1]]


def test_a_reduction_writes_its_value(cli: Cli, built: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.array([0x3F80, 0xC000, 0x4040], np.uint16))  # 1, -2, 3
    done = cli("run", built, "top", tmp_path / "in.npy", "-o", tmp_path / "out.npy", "-b", "cpu")
    assert (done.code, done.out) == (0, f"{tmp_path / 'out.npy'}: uint16 scalar, by top on cpu\n"), done.err
    value = np.load(tmp_path / "out.npy")
    assert (value.shape, int(value)) == ((), 0x4040)
    done = cli("run", built, "top", tmp_path / "in.npy", tmp_path / "in.npy", "-o", tmp_path / "out.npy", "-b", "cpu")
    assert (done.code, "top is a max: it takes data, got 2 files." in done.err) == (1, True)


ALL = ["-p", "shift=1", "-p", "inner.w=1,2", "-p", "on=0"]


@pytest.mark.parametrize(
    ("kernel", "params", "words"),
    [
        ("affine", [], "shift is missing; on is missing; inner.w is missing"),
        ("affine", [], "It takes: -p shift=i32 -p on=bool -p inner.w=f32,f32"),
        ("affine", [*ALL, "-p", "inner.v=1"], "inner.v is no field"),
        ("affine", [*ALL, "-p", "shift=2"], "shift is given twice"),
        ("affine", ["-p", "shift"], "a parameter is written field=value"),
        ("affine", ["-p", "shift=1.5", *ALL[2:]], "'1.5' is no i32"),
        ("affine", ["-p", "shift=3000000000", *ALL[2:]], "does not fit i32"),
        ("affine", [*ALL[:2], "-p", "inner.w=1", *ALL[4:]], "2 values between commas are wanted, got 1"),
        ("affine", [*ALL[:4], "-p", "on=maybe"], "'maybe' is no bool"),
        ("double", ["-p", "shift=1"], "kernel double takes no parameters"),
        ("affin", [], "affine"),
        ("raw_add", [], "raw_add is a raw kernel"),
    ],
)
def test_wrong_parameters_and_kernels_are_named(cli: Cli, built: Path, tmp_path: Path, kernel: str, params: list[str], words: str) -> None:
    np.save(tmp_path / "in.npy", np.zeros(3, np.float32))
    done = cli("run", built, kernel, tmp_path / "in.npy", *params, "-o", tmp_path / "out.npy", "-b", "cpu")
    assert done.code == 1
    assert words in done.err
    assert not (tmp_path / "out.npy").exists()


def test_wrong_arrays_and_backends_are_refused(cli: Cli, built: Path, tmp_path: Path) -> None:
    good, wrong, text = tmp_path / "good.npy", tmp_path / "wrong.npy", tmp_path / "text.npy"
    np.save(good, np.zeros(3, np.int32))
    np.save(wrong, np.zeros(3, np.float64))
    text.write_text("no array")
    out = tmp_path / "out.npy"
    for arguments, code, words in (
        ([built, "double", wrong, "-o", out, "-b", "cpu"], 1, "float64"),
        ([built, "double", text, "-o", out], 1, "not a .npy file"),
        ([built, "double", good, good, "-o", out], 1, "double is a map: it takes data, got 2 files."),
        ([built, "mean", good, "-o", out], 1, "mean is a zip: it takes a, b and perhaps out, got 1 files."),
        ([built, "put", good, good, "-o", out], 1, "put is a scatter: it takes src, idx, out, got 2 files."),
        ([built, "double", good, "-o", tmp_path / "no" / "out.npy", "-b", "cpu"], 1, "cannot be written"),
        ([built, "double", good, "-o", out, "-b", "opencl"], 2, "'opencl'"),
        ([built, "double", "-o", out], 2, "IN.npy"),
        ([built, "double", tmp_path / "none.npy", "-o", out], 2, "does not exist"),
        ([built, "double", good], 2, "--output"),
    ):
        done = cli("run", *arguments)
        assert (done.code, words in done.err) == (code, True), done.err
    assert not out.exists()


def test_a_set_for_another_machine_says_what_it_holds(cli: Cli, tmp_path: Path) -> None:
    set_of_one = _build(tmp_path, KERNELS, "-t", "sm_50")
    np.save(tmp_path / "in.npy", np.zeros(3, np.int32))
    done = cli("run", set_of_one, "double", tmp_path / "in.npy", "-o", tmp_path / "out.npy", "-b", "cpu")
    assert done.code == 1
    assert "sm_50" in done.err

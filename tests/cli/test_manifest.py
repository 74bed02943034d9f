"""`gompute manifest`, and the README's section on it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Done

Cli = Callable[..., Done]

README = (Path(__file__).resolve().parent.parent.parent / "README.md").read_text(encoding="utf-8")
GOLDEN = Path(__file__).resolve().parent.parent.parent / "checks" / "golden" / "ir"

KERNELS = """
import gompute as g
from gompute import f32


@g.map
def blur(x: f32) -> f32:
    return x * 0.5


@g.map
def sharpen(x: f32) -> f32:
    return x * 2.0
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.gompute]\ntargets = ["x86-64-v3"]\nmanifest = "manifest.json"\n[tool.gompute.roots.image]\nsource = "kernels.py"\n'
    )
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "main.py").write_text("import gompute as g\nfrom kernels import blur\n\ng.AutoKernel(blur)\n")
    return tmp_path


def test_the_commands_of_the_readme(cli: Cli, project: Path) -> None:
    block = next(block for block in re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL) if "manifest scan" in block)
    scan, check, merge, build = (line.partition("#") for line in block.splitlines())
    assert cli(*scan[0].split()[1:]).code == 0
    assert json.loads((project / "manifest.json").read_text()) == json.loads(scan[2])
    done = cli(*check[0].split()[1:])
    assert (done.code, done.out) == (0, f"{project}/manifest.json: 1 kernel of 1 root, up to date\n")
    (project / "manifest.json").rename("one.json")
    (project / "two.json").write_text('{"version": 1, "kernels": {"image": {"sharpen": []}}}')
    assert cli(*merge[0].split()[1:]).code == 0
    assert json.loads((project / "manifest.json").read_text())["kernels"] == {"image": {"blur": [], "sharpen": []}}
    assert build[0].split()[:4] == ["gompute", "build", "--manifest", "manifest.json"]  # tests/cli/test_build_manifest.py runs it


def test_an_edit_that_launches_nothing_new_leaves_the_bytes_and_a_new_launch_is_stale(cli: Cli, project: Path) -> None:
    main = project / "program" / "main.py"
    assert cli("manifest", "scan", "program", "-o", "manifest.json").code == 0
    before = (project / "manifest.json").read_bytes()
    main.write_text(f"# an edit\n\n\n{main.read_text()}\nprint(g.AutoKernel(blur))\n")
    assert cli("manifest", "check", "program").code == 0
    assert cli("manifest", "scan", "program", "-o", "manifest.json").code == 0
    assert (project / "manifest.json").read_bytes() == before
    main.write_text("import gompute as g\nimport kernels\ng.AutoKernel(kernels.sharpen)\n")
    done = cli("manifest", "check", "program")
    assert done.code == 1
    assert done.err == (
        f"error: {project}/manifest.json is stale:\n"
        "  image.sharpen is launched and not in it: program/main.py:3\n"
        "  image.blur is in it and not launched\n"
        "  Write it again: gompute manifest scan program -o manifest.json\n"
    )


def test_call_sites_are_written_only_when_asked_for_and_then_checked_too(cli: Cli, project: Path) -> None:
    assert cli("manifest", "scan", "program", "-o", "manifest.json", "--call-sites").code == 0
    assert json.loads((project / "manifest.json").read_text())["call_sites"] == {"image": {"blur": ["program/main.py:4"]}}
    assert cli("manifest", "show", "manifest.json").out == (
        "root   kernel  instances  launched at\nimage  blur            -  program/main.py:4\n"
    )
    main = project / "program" / "main.py"
    main.write_text(f"\n{main.read_text()}")
    done = cli("manifest", "check", "program")
    assert done.code == 1
    assert "its call sites have moved\n  Write it again: gompute manifest scan --call-sites program -o manifest.json\n" in done.err


def test_two_packages_that_launch_different_kernels_of_one_root_get_both(cli: Cli, project: Path) -> None:
    (project / "second").mkdir()
    (project / "second" / "__init__.py").write_text("import gompute as g, kernels\ng.Kernel(kernels.sharpen, 'cpu')\n")
    for folder in ("program", "second"):
        assert cli("manifest", "scan", folder, "-o", f"{folder}.json").code == 0
    done = cli("manifest", "merge", "second.json", "program.json")
    assert json.loads(done.out)["kernels"] == {"image": {"blur": [], "sharpen": []}}
    (project / "other.json").write_text('{"version": 1, "kernels": {"film": {"blur": []}}}')
    done = cli("manifest", "merge", "program.json", "other.json")
    assert done.code == 1
    assert "kernel 'blur' is in root 'image' (program.json) and in root 'film' (other.json)" in done.err


def test_what_cannot_be_known_fails_or_is_kept(cli: Cli, project: Path) -> None:
    (project / "program" / "main.py").write_text("import gompute as g\nimport sys\ng.kernel_by_name(sys.argv[1], 'cpu')\n")
    done = cli("manifest", "scan", "program")
    assert (done.code, done.out) == (1, "")
    assert "program/main.py:3:1: the kernel of this kernel_by_name, `sys.argv[1]`, cannot be known from the source" in done.err
    text = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(text.replace("manifest =", 'keep = ["sharpen"]\nmanifest ='))
    done = cli("manifest", "scan", "program")
    assert json.loads(done.out)["kernels"] == {"image": {"sharpen": []}}
    assert "note: program/main.py:3: " in done.err


def test_a_root_of_another_compiler_is_asked_for_its_kernels(cli: Cli, project: Path) -> None:
    for name, file in (("zig-nvptx64.ll", "zig-0.16-nvptx64.ll"), ("zig-amdgcn.ll", "zig-0.16-amdgcn.ll")):
        (project / "kernels").mkdir(exist_ok=True)
        (project / "kernels" / name).write_bytes((GOLDEN / file).read_bytes())
    declared = next(block for block in re.findall(r"^```toml\n(.*?)^```$", README, re.MULTILINE | re.DOTALL) if "roots.zig" in block)
    (project / "pyproject.toml").write_text(f"[tool.gompute]\n{declared}")
    launch = re.search(r"`(g\.RawKernel\(\"raw_scale\".*?)`", README)
    assert launch is not None
    (project / "program" / "main.py").write_text(f"import gompute as g\n{launch[1]}\n")
    done = cli("manifest", "scan", "program")
    assert json.loads(done.out)["kernels"] == {"zig": {"raw_scale": []}}, done.err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("check", "program"), 1, "manifest.json: there is no such manifest.\n  Write it: gompute manifest scan program"),
        (("scan", "nothing"), 2, "nothing"),
        (("scan",), 2, "PATH"),
        (("show", "kernels.py"), 1, "kernels.py: not valid JSON"),
        (("scan", "program", "--root", "program/main.py"), 1, "no kernel root makes it"),
    ],
)
def test_wrong_use_is_told(cli: Cli, project: Path, arguments: tuple[str, ...], code: int, says: str) -> None:
    done = cli("manifest", *arguments)
    assert done.code == code
    assert says in done.err

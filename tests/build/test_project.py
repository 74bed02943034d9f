from __future__ import annotations

from pathlib import Path

import pytest

from gompute.build.modes import Modes
from gompute.build.project import find_project, read_project
from gompute.errors import CompileError, UnknownTarget
from gompute.targets import parse_target


def _project(folder: Path, text: str) -> Path:
    for name in ("a.py", "b.py"):
        (folder / name).write_text("")
    file = folder / "pyproject.toml"
    file.write_text(text)
    return file


def test_roots_and_targets_are_read_with_absolute_paths(tmp_path: Path) -> None:
    project = read_project(
        _project(
            tmp_path,
            """
            [tool.gompute]
            targets = ["gfx90a:xnack+", "sm_89"]
            [tool.gompute.roots.two]
            source = "b.py"
            imports = { cuda = ["a.py"] }
            [tool.gompute.roots.one]
            source = "a.py"
            [tool.gompute.roots.three]
            source = "a.py"
            imports = ["b.py"]
            """,
        )
    )
    assert project is not None
    assert [target.name for target in project.targets] == ["gfx90a:xnack+", "sm_89"]
    one, three, two = project.roots
    assert (one.name, one.source) == ("one", tmp_path / "a.py")
    sm_89, v3 = parse_target("sm_89"), parse_target("x86-64-v3")
    assert one.imports_for(sm_89) == ()
    assert (two.imports_for(sm_89), two.imports_for(v3)) == ((tmp_path / "a.py",), ())
    assert three.imports_for(v3) == (tmp_path / "b.py",)


def test_a_pyproject_without_the_table_is_passed_over(tmp_path: Path) -> None:
    inner = tmp_path / "inner" / "folder"
    inner.mkdir(parents=True)
    (tmp_path / "inner" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    _project(tmp_path, "[tool.gompute]\ntargets = ['sm_80']\n")
    found = find_project(inner)
    assert found is not None
    assert found.file == tmp_path / "pyproject.toml"
    assert read_project(tmp_path / "inner" / "pyproject.toml") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.gompute\n", "cannot be read"),
        ("[tool]\ngompute = 3\n", r"\[tool.gompute\]: a table is wanted, got 3"),
        ("[tool.gompute]\ntarget = ['sm_89']\n", r"\[tool.gompute\]: unknown key 'target'. Did you mean 'targets'"),
        ("[tool.gompute]\nzzz = 1\n", "unknown key 'zzz'.\n  Known keys: heavy-lanes, host, keep, manifest, optimize, roots, targets."),
        ("[tool.gompute]\ntargets = 'sm_89'\n", "targets: a list of strings is wanted, got 'sm_89'"),
        ("[tool.gompute]\ntargets = [89]\n", "a list of strings is wanted"),
        ("[tool.gompute.roots.a]\n", r"\[tool.gompute.roots.a\]: a root needs its source.\n  Add the line: source ="),
        ("[tool.gompute.roots.a]\nsource = 'c.py'\n", "source 'c.py': there is no such file"),
        ("[tool.gompute.roots.a]\nsource = '.'\n", "it is a folder"),
        ("[tool.gompute.roots.a]\nsource = 'a.py'\nsources = 1\n", "unknown key 'sources'. Did you mean 'source'"),
        ("[tool.gompute.roots.a]\nsource = 'a.py'\nimports = ['c.py']\n", r"imports: .*c.py does not exist"),
        ("[tool.gompute.roots.a]\nsource = 'a.py'\nimports = { rocm = [] }\n", "imports: unknown key 'rocm'"),
        ("[tool.gompute.roots.'a-b']\nsource = 'a.py'\n", "'a-b' cannot name a kernel root"),
        ("[tool.gompute]\nroots = ['a.py']\n", "roots: a table is wanted"),
        ("[tool.gompute]\nheavy-lanes = 0\n", r"\[tool.gompute\] heavy-lanes: a number from 1 on is wanted, got 0"),
        ("[tool.gompute]\nheavy-lanes = true\n", "heavy-lanes: a number from 1 on is wanted, got True"),
        ("[tool.gompute]\nheavy-lanes = '2'\n", "heavy-lanes: a number from 1 on is wanted, got '2'"),
        ("[tool.gompute]\nheavy_lanes = 2\n", "unknown key 'heavy_lanes'. Did you mean 'heavy-lanes'"),
        ("[tool.gompute]\nmanifest = true\n", r'manifest: the path of a file is wanted, got True.\n  Write: manifest = "manifest.json"'),
        ("[tool.gompute]\nkeep = 'k'\n", r"\[tool.gompute\] keep: a list of strings is wanted, got 'k'"),
        ("[tool.gompute]\noptimize = 'O3'\n", r"\[tool.gompute\] optimize: there is no mode 'O3'; the modes are fast, safe, debug."),
        ("[tool.gompute]\noptimize = 3\n", r"\[tool.gompute\] optimize: a mode or a table of modes by backend is wanted, got 3"),
        ("[tool.gompute]\noptimize = { gpu = 'safe' }\n", r"\[tool.gompute\] optimize: there is no backend 'gpu'"),
        ("[tool.gompute.roots.a]\nsource = 'a.py'\noptimize = ''\n", r"\[tool.gompute.roots.a\] optimize: there is no mode ''"),
        ("[tool.gompute.roots.a]\nsource = 'a.py'\nheavy = 1\n", r"\[tool.gompute.roots.a\] heavy: true or false is wanted, got 1"),
    ],
)
def test_a_wrong_declaration_names_the_key_and_the_fix(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(CompileError, match=words):
        read_project(_project(tmp_path, text))


def test_an_unknown_target_is_refused_with_near_names(tmp_path: Path) -> None:
    with pytest.raises(UnknownTarget, match=r"pyproject.toml: \[tool.gompute\] targets: .*'sm_98'.*sm_89"):
        read_project(_project(tmp_path, "[tool.gompute]\ntargets = ['sm_98']\n"))


def test_a_detected_target_is_refused_with_the_file(tmp_path: Path) -> None:
    with pytest.raises(UnknownTarget, match=r"\[tool.gompute\] targets: .*always pinned"):
        read_project(_project(tmp_path, "[tool.gompute]\ntargets = ['auto']\n"))


def test_heavy_roots_and_lanes(tmp_path: Path) -> None:
    text = """
        [tool.gompute]
        heavy-lanes = 3
        [tool.gompute.roots.one]
        source = "a.py"
        heavy = true
        [tool.gompute.roots.two]
        source = "b.py"
        heavy = false
        """
    project = read_project(_project(tmp_path, text))
    assert project is not None
    assert project.heavy_lanes == 3
    assert [(root.name, root.heavy) for root in project.roots] == [("one", True), ("two", False)]
    bare = read_project(_project(tmp_path, "[tool.gompute.roots.one]\nsource = 'a.py'\n"))
    assert bare is not None
    assert (bare.heavy_lanes, bare.roots[0].heavy) == (1, False)


def test_a_root_in_llvm_ir_may_have_a_file_for_each_backend(tmp_path: Path) -> None:
    for name in ("n.ll", "a.bc"):
        (tmp_path / name).write_text("")
    table = "[tool.gompute.roots.zig]\nsource = "
    project = read_project(_project(tmp_path, table + '{ hip = "a.bc", cuda = "n.ll" }\n'))
    assert project is not None
    (root,) = project.roots
    assert root.foreign
    assert root.sources == (tmp_path / "n.ll", tmp_path / "a.bc")
    targets = [parse_target(name) for name in ("sm_89", "gfx1100", "x86-64-v3")]
    assert [root.source_for(target) for target in targets] == [tmp_path / "n.ll", tmp_path / "a.bc", None]
    for declared, words in (
        ("{}", "a root needs its source"),
        ('{ cpu = "n.ll" }', "source: unknown key 'cpu'"),
        ('{ cuda = "a.py" }', r"source.cuda: a file of LLVM IR \(.ll, .bc\) is wanted, got 'a.py'"),
        ('{ cuda = "none.ll" }', "source.cuda 'none.ll': there is no such file"),
        ('"pyproject.toml"', r"a kernel root is a Python module \(.py\), or LLVM IR of another compiler"),
    ):
        with pytest.raises(CompileError, match=words):
            read_project(_project(tmp_path, f"{table}{declared}\n"))


def test_modes(tmp_path: Path) -> None:
    text = """
        [tool.gompute]
        optimize = { cuda = "safe", cpu = "debug" }
        [tool.gompute.roots.one]
        source = "a.py"
        optimize = "debug"
        [tool.gompute.roots.two]
        source = "b.py"
        """
    project = read_project(_project(tmp_path, text))
    assert project is not None
    assert project.modes == Modes(by_backend={"cuda": "safe", "cpu": "debug"})
    assert [root.modes for root in project.roots] == [Modes("debug"), Modes()]


def test_a_manifest_and_what_to_keep(tmp_path: Path) -> None:
    project = read_project(_project(tmp_path, '[tool.gompute]\nmanifest = "there/manifest.json"\nkeep = ["k", "a.axpy[f32]"]\n'))
    assert project is not None
    assert (project.manifest, project.keep) == (tmp_path / "there" / "manifest.json", ("k", "a.axpy[f32]"))
    bare = read_project(_project(tmp_path, "[tool.gompute]\n"))
    assert bare is not None
    assert (bare.manifest, bare.keep) == (None, ())

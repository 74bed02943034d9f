"""What a project declares in `[tool.gompute]` of its pyproject.toml: its targets and its kernel roots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gompute.build.modes import Modes, read_modes
from gompute.build.roots import IR_SUFFIXES, KernelRoot, check_root_name, check_source
from gompute.errors import CompileError, UnknownTarget
from gompute.targets import Target, parse_target

__all__ = ["Project", "find_project", "places", "read_project"]

_BACKENDS = ("cpu", "cuda", "hip")


@dataclass(frozen=True, slots=True)
class Project:
    """The declarations of one pyproject.toml.

    Attributes:
        file: the pyproject.toml; paths in it are relative to its folder.
        targets: what to build for when the command line names no target.
        roots: by name.
        heavy_lanes: how many heavy roots may be at work at a time.
        manifest: the launch manifest that says what to compile; None for everything.
        keep: kernels that a scan takes to be launched, whatever it finds.
        modes: the optimise modes of roots that ask for none themselves.
        host: files and folders of the host code, which a manifest is to cover; empty where nothing is declared.
    """

    file: Path
    targets: tuple[Target, ...]
    roots: tuple[KernelRoot, ...]
    heavy_lanes: int = 1
    manifest: Path | None = None
    keep: tuple[str, ...] = ()
    modes: Modes = field(default_factory=Modes)
    host: tuple[Path, ...] = ()


def find_project(folder: Path) -> Project | None:
    """The declarations that hold in `folder`: those of the first pyproject.toml with a `[tool.gompute]` there or in a folder above it.

    Raises:
        CompileError: that file cannot be read, or a declaration is wrong.
    """
    for file in places(folder):
        if file.is_file():
            project = read_project(file)
            if project is not None:
                return project
    return None


def places(folder: Path) -> list[Path]:
    """The files that are looked at for what holds in `folder`, the nearest first."""
    return [place / "pyproject.toml" for place in (folder, *folder.parents)]


def read_project(file: Path) -> Project | None:
    """The declarations in one pyproject.toml, or None when it has no `[tool.gompute]`.

    Raises:
        CompileError: the file cannot be read, or a declaration is wrong; the message names the key.
    """
    import tomllib  # here, since most builds name all they need

    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CompileError(f"{file}: cannot be read: {error}") from None
    tools = document.get("tool")
    if not isinstance(tools, dict) or "gompute" not in tools:
        return None
    where = f"{file}: [tool.gompute]"
    declared = _table(tools["gompute"], where, keys=("heavy-lanes", "host", "keep", "manifest", "optimize", "roots", "targets"))
    targets = _targets(declared.get("targets", []), f"{where} targets")
    roots = _table(declared.get("roots", {}), f"{where} roots", keys=None)
    lanes = declared.get("heavy-lanes", 1)
    if type(lanes) is not int or lanes < 1:  # a bool is an int to Python and not to us
        raise CompileError(f"{where} heavy-lanes: a number from 1 on is wanted, got {lanes!r}.")
    manifest = declared.get("manifest")
    if manifest is not None and not isinstance(manifest, str):
        raise CompileError(f'{where} manifest: the path of a file is wanted, got {manifest!r}.\n  Write: manifest = "manifest.json"')
    return Project(
        file,
        targets,
        tuple(_root(file, name, roots[name]) for name in sorted(roots)),
        lanes,
        None if manifest is None else (file.parent / manifest).absolute(),
        tuple(_strings(declared.get("keep", []), f"{where} keep")),
        _modes(declared, where),
        _paths(file.parent, declared.get("host", []), f"{where} host"),
    )


def _targets(declared: object, where: str) -> tuple[Target, ...]:
    names = _strings(declared, where)
    try:
        return tuple(parse_target(name) for name in names)
    except UnknownTarget as error:
        raise UnknownTarget(f"{where}: {error}") from None


def _root(file: Path, name: str, declared: object) -> KernelRoot:
    where = f"{file}: [tool.gompute.roots.{name}]"
    check_root_name(name, where=where, fix="rename the root; its source file can keep its name.")
    table = _table(declared, where, keys=("heavy", "imports", "optimize", "source"))
    source, by_backend = _source(file.parent, name, table.get("source"), where)
    heavy = table.get("heavy", False)
    if not isinstance(heavy, bool):
        raise CompileError(f"{where} heavy: true or false is wanted, got {heavy!r}.")
    imports = _imports(file.parent, table.get("imports", []), f"{where} imports")
    return KernelRoot(name, source, imports, heavy, by_backend, _modes(table, where))


def _modes(declared: Mapping[str, object], where: str) -> Modes:
    return read_modes(declared["optimize"], f"{where} optimize") if "optimize" in declared else Modes()


def _source(folder: Path, name: str, declared: object, where: str) -> tuple[Path, Mapping[str, Path] | None]:
    """One file, or a table of files of LLVM IR by backend."""
    if isinstance(declared, str):
        source = folder / declared
        check_source(source, where=f"{where} source {declared!r}")
        return source.absolute(), None
    if not isinstance(declared, dict) or not declared:
        raise CompileError(f'{where}: a root needs its source.\n  Add the line: source = "kernels/{name}.py"')
    table = _table(declared, f"{where} source", keys=("cuda", "hip"))
    made: dict[str, Path] = {}
    for backend in sorted(table):
        file = table[backend]
        if not isinstance(file, str) or (folder / file).suffix not in IR_SUFFIXES:
            raise CompileError(
                f"{where} source.{backend}: a file of LLVM IR (.ll, .bc) is wanted, got {file!r}; "
                "a Python module is one source for all backends."
            )
        check_source(folder / file, where=f"{where} source.{backend} {file!r}")
        made[backend] = (folder / file).absolute()
    return next(iter(made.values())), made


def _imports(folder: Path, declared: object, where: str) -> Mapping[str, tuple[Path, ...]]:
    """`declared` is one list for all backends, or a table of lists by backend, in which a backend that is left out imports nothing."""
    if isinstance(declared, dict):
        table = _table(declared, where, keys=_BACKENDS)
        return {backend: _paths(folder, table.get(backend, []), f"{where}.{backend}") for backend in _BACKENDS}
    return dict.fromkeys(_BACKENDS, _paths(folder, declared, where))


def _paths(folder: Path, declared: object, where: str) -> tuple[Path, ...]:
    paths = tuple((folder / name).absolute() for name in _strings(declared, where))
    for path in paths:
        if not path.exists():
            raise CompileError(f"{where}: {path} does not exist.")
    return paths


def _strings(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise CompileError(f"{where}: a list of strings is wanted, got {value!r}.")
    return value


def _table(value: object, where: str, *, keys: Sequence[str] | None) -> dict[str, Any]:
    """`value` as a table that has none but the given keys (None: any)."""
    if not isinstance(value, dict):
        raise CompileError(f"{where}: a table is wanted, got {value!r}.")
    unknown = [key for key in value if keys is not None and key not in keys]
    if keys is not None and unknown:
        import difflib

        near = difflib.get_close_matches(unknown[0], keys, n=1)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        raise CompileError(f"{where}: unknown key {unknown[0]!r}.{guess}\n  Known keys: {', '.join(keys)}.")
    return value

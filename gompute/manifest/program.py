"""The modules of a program: which files there are, what an import leads to, and what is written in them."""

from __future__ import annotations

import io
import os
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

from gompute.errors import CompileError
from gompute.frontend.source import SourceFile, Sources
from gompute.manifest.bindings import bound_names, imported_names
from gompute.manifest.values import External, Gompute, Module, ModuleScope, Namespace, Value

__all__ = ["Program", "is_standard", "python_files"]

_KEEP = re.compile(r"#\s*gompute:\s*keep\b(.*)")
_UNREAD = frozenset({"__pycache__", "node_modules", "site-packages"})


def python_files(paths: Sequence[Path]) -> list[Path]:
    """The files given, and every Python file below the folders given but for hidden ones and environments; resolved, sorted.

    Raises:
        CompileError: a path is not there, or there is no file.
    """
    found: set[Path] = set()
    for path in paths:
        if path.is_dir():
            found |= set(_below(path))
        elif path.is_file():
            found.add(path.resolve())
        else:
            raise CompileError(f"{path}: there is no such file or folder.")
    if not found:
        raise CompileError(f"{', '.join(map(str, paths))}: there is no Python file.")
    return sorted(found)


def _below(folder: Path) -> Iterator[Path]:
    seen: set[str] = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        if (real := os.path.realpath(place)) in seen:
            folders.clear()  # a link to a folder around it, or to one that was read
            continue
        seen.add(real)
        folders[:] = sorted(
            name
            for name in folders
            if name not in _UNREAD and not name.startswith(".") and not os.path.exists(os.path.join(place, name, "pyvenv.cfg"))
        )
        for name in files:
            if name.endswith((".py", ".pyw")) and not name.startswith("."):
                yield Path(place, name).resolve()


class Program:
    """Host code, read as far as imports lead into it.

    Args:
        files: the files to read, resolved.
        folders: where else imports are looked for: the folders given to a scan, those of kernel roots.

    Attributes:
        modules: what has been read so far, by file. It grows as imports are met.
    """

    def __init__(self, files: Sequence[Path], folders: Sequence[Path]) -> None:
        here = Path.cwd()
        self._sources = Sources(here, ".")
        self._folders = tuple(dict.fromkeys(folder.resolve() for folder in folders))
        self.modules: dict[Path, ModuleScope] = {}
        self._keeps: dict[Path, dict[int, list[str]]] = {}
        self._imports: dict[tuple[Path, str], Value] = {}
        for file in files:
            self.read(file)

    def source(self, file: Path) -> SourceFile:
        """The text of a module.

        Raises:
            CompileError: it cannot be read, or is no Python.
        """
        return self._sources.read(str(file))

    def read(self, file: Path) -> ModuleScope:
        """The module in a file; raises as `source`."""
        file = file.resolve()
        if not file.is_file():  # a pipe would be waited for
            raise CompileError(f"{file}: it is no regular file.")
        known = self.modules.get(file)
        if known is None:
            tree = self.source(file).tree
            known = self.modules[file] = ModuleScope(file, tree, bound_names(tree.body), imported_names(tree.body))
        return known

    def keeps(self, file: Path) -> dict[int, list[str]]:
        """Names in comments ``# gompute: keep NAME, ...`` of a module, by line."""
        if file not in self._keeps:
            self._keeps[file] = made = {}
            text = self.source(file).text
            if "gompute:" in text:
                for token in tokenize.generate_tokens(io.StringIO(text).readline):
                    comment = _KEEP.search(token.string) if token.type == tokenize.COMMENT else None
                    if comment is not None:
                        made[token.start[0]] = _names(comment[1])
        return self._keeps[file]

    def imported(self, name: str, importer: Path) -> Value:
        """What `import name` gives for the last part of a dotted name."""
        parts = name.split(".")
        if parts[0] == "gompute":
            return Gompute(parts[-1] if len(parts) > 1 else "")
        known = self._imports.get((importer.parent, name))
        if known is None:
            found = (self._place(folder, parts) for folder in self._search(importer))
            known = next((value for value in found if value is not None), External(name))
            self._imports[importer.parent, name] = known
        return known

    def relative(self, importer: Path, level: int, name: str) -> Value:
        """What ``from ...name`` leads to, `level` being the number of dots."""
        folder = importer.parent
        for _ in range(level - 1):
            folder = folder.parent
        found = self._place(folder, name.split(".")) if name else self._package(folder)
        return found if found is not None else External("." * level + name)

    def submodule(self, of: ModuleScope | Path, name: str) -> Value | None:
        """A module inside a package, or None."""
        if isinstance(of, ModuleScope):
            return self._place(of.file.parent, [name]) if of.file.name == "__init__.py" else None
        return self._place(of, [name])

    def _search(self, importer: Path) -> Iterator[Path]:
        """Folders in which a program that holds `importer` looks for modules, most likely first."""
        folder = importer.parent
        while (folder / "__init__.py").is_file() and folder != folder.parent:
            folder = folder.parent
        yield folder
        yield from self._folders

    def _place(self, folder: Path, parts: Sequence[str]) -> Value | None:
        for part in parts[:-1]:
            folder = folder / part
        module = folder / f"{parts[-1]}.py"
        package = self._package(folder / parts[-1])
        if isinstance(package, Module) or not module.is_file():
            return package
        return Module(self.read(module))

    def _package(self, folder: Path) -> Value | None:
        init = folder / "__init__.py"
        if init.is_file():
            return Module(self.read(init))
        return Namespace(folder.resolve()) if folder.is_dir() and next(folder.rglob("*.py"), None) else None


def _names(text: str) -> list[str]:
    """`a, axpy[f32,i32]` -> both; a comma in brackets does not part."""
    return [name.replace(" ", "") for name in re.findall(r"[\w.]+\s*(?:\[[^\]]*\])?", text)]


def is_standard(name: str) -> bool:
    """Whether a dotted name is of Python's own library, which launches nothing."""
    return name.partition(".")[0] in sys.stdlib_module_names

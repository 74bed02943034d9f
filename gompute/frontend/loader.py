"""Importing a root's module to find its kernels: only its own folder and its declared imports can be reached.

The module's top level is the author's code and runs in this process: callers that build do so in a worker with an empty environment.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from gompute.errors import CompileError, Error
from gompute.frontend.faults import Fault
from gompute.frontend.outline import LEFT_OUT
from gompute.frontend.reads import Reads, Recorder, recording
from gompute.frontend.source import Sources
from gompute.lang.spec import REGISTRY, KernelSpec, specs_of

__all__ = ["load_root"]

# NumPy may make constant tables; it is a dependency of Gompute itself, so it is there wherever a root is built.
_ALWAYS = frozenset({"gompute", "numpy"})


class _SourceLoader(SourceFileLoader):
    """Always compiles the source: bytecode that another Python left beside it counts as fresh for a second after an edit."""

    def __init__(self, fullname: str, path: str, recorder: Recorder, outline: str | None = None) -> None:
        super().__init__(fullname, path)
        self._recorder = recorder
        self._outline = outline

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        data = self.get_data(path)
        self._recorder.source(path, data)
        return self.source_to_code(data if self._outline is None else self._outline, path)


class _RootFinder(MetaPathFinder):
    """Decides where each top-level import of a root's module comes from."""

    def __init__(self, root: str, folder: Path, imports: Sequence[Path] | None, recorder: Recorder) -> None:
        self.root = root
        self.folder = folder
        self.declared = None if imports is None else {path.stem: path for path in imports}
        self.recorder = recorder
        self.absent: set[Path] = set()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if _is_shared(fullname):
            return None
        if path is not None:  # inside a package that was already admitted
            found = PathFinder.find_spec(fullname, path)
            if found is not None and found.origin is not None and isinstance(found.loader, SourceFileLoader):
                found.loader = _SourceLoader(fullname, found.origin, self.recorder)
            elif found is not None and found.origin is not None:
                self.recorder.unsure(f"imports {found.origin}, which is no Python source")
            return found
        place = self._place(fullname)
        if place is not None:
            file = place / "__init__.py" if place.is_dir() else place
            locations = [str(place)] if place.is_dir() else None
            loader = _SourceLoader(fullname, str(file), self.recorder)
            return importlib.util.spec_from_file_location(fullname, file, loader=loader, submodule_search_locations=locations)
        raise ImportError(self._refusal(fullname), name=fullname)

    def _place(self, name: str) -> Path | None:
        if self.declared is not None:
            return self.declared.get(name)
        module, package = self.folder / f"{name}.py", self.folder / name
        for candidate, file in ((module, module), (package, package / "__init__.py")):
            if file.is_file():
                return candidate
            self.absent.add(file)
        return None

    def _refusal(self, name: str) -> str:
        if self.declared is None:
            return f"a kernel root can import the standard library, gompute, numpy and what lies beside it; there is no '{name}.py'"
        listed = ", ".join(f'"{path.name}"' for path in [*self.declared.values(), Path(f"{name}.py")])
        return f"root '{self.root}' does not declare this import; add to [tool.gompute.roots.{self.root}]: imports = [{listed}]"


def load_root(
    source: Path, name: str, imports: Sequence[Path] | None, sources: Sources
) -> tuple[tuple[KernelSpec, ...], Callable[[], Reads]]:
    """Import a root's module.

    Args:
        source: the module's file.
        imports: files and package folders that it may import; None for whatever lies beside it.

    Returns the specs that it made, and what gives all that was read, once the kernels are checked.
    Raises CompileError with file and line when the import fails.
    """
    file = source.resolve()
    if not file.is_file():
        raise CompileError(f"{source}: no such file; the source of root '{name}' is a Python module")
    read = sources.read(str(file))
    if read.outline is not None:
        with suppress(_BodyWanted):  # something runs the body of a kernel as Python
            return _loaded(file, name, imports, sources, read.outline.text)
    return _loaded(file, name, imports, sources, None)


class _BodyWanted(BaseException):
    """Python has run a function whose body was left out of the import; no `except Exception` of the author's is to take it."""


def _loaded(
    file: Path, name: str, imports: Sequence[Path] | None, sources: Sources, outline: str | None
) -> tuple[tuple[KernelSpec, ...], Callable[[], Reads]]:
    """As `load_root`, of a file with its links resolved.

    Args:
        outline: the text to import in place of the file's; None for the file's.

    Raises _BodyWanted as well, where that text did not do.
    """
    recorder = Recorder()
    finder = _RootFinder(name, file.parent, None if imports is None else [path.resolve() for path in imports], recorder)
    module_name = f"gompute_root_{name}"  # a root may be called like a standard module
    loader = _SourceLoader(module_name, str(file), recorder, outline)
    spec = ModuleSpec(module_name, loader, origin=str(file))
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    wanted: list[_BodyWanted] = []

    def left_out() -> None:
        wanted.append(_BodyWanted())
        raise wanted[-1]

    vars(module).update({REGISTRY: [], LEFT_OUT: left_out})
    with _importing(finder, module), recording(recorder):
        try:
            loader.exec_module(module)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit of the author's code included: it is a fault of the root, not the end of a build
            if not wanted:
                sources.read(str(file)).tree  # noqa: B018 - what is no Python is told in our own words
                raise CompileError(_import_fault(error, sources, file).render()) from error
    if wanted:
        raise wanted[0]
    return specs_of(vars(module)), lambda: recorder.reads(sources.hashes, finder.absent)


@contextmanager
def _importing(finder: _RootFinder, module: ModuleType) -> Iterator[None]:
    """While a root is imported, Python knows the modules that every root may use and no others, and writes no bytecode; afterwards all is
    as before."""
    known = {name: loaded for name, loaded in sys.modules.items() if not _is_shared(name)}
    for name in known:
        del sys.modules[name]  # what this process has loaded, the compiler included, would be found without the finder
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.modules[module.__name__] = module
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.dont_write_bytecode = writes
        for name in [name for name in sys.modules if not _is_shared(name)]:
            del sys.modules[name]
        sys.modules.update(known)


def _is_shared(name: str) -> bool:
    top = name.partition(".")[0]
    return top in _ALWAYS or top in sys.stdlib_module_names or top == "__main__"


def _import_fault(error: BaseException, sources: Sources, file: Path) -> Fault:
    """Where in the author's files an import failed, and Python's words."""
    folder = str(file.parent)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if os.path.realpath(frame.filename).startswith(folder)]
    what = str(error) if isinstance(error, (Error, ImportError)) else f"importing this module fails: {type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        place, line, column = error.filename, error.lineno or 1, error.offset or 1
        what = f"{type(error).__name__}: {error.msg}"
    elif frames:
        place, line, column = frames[-1].filename, frames[-1].lineno or 1, (frames[-1].colno or 0) + 1
    else:
        place, line, column = str(file), 1, 1
    try:
        source = sources.read(place)
    except CompileError:
        return Fault(place, line, column, what, "")
    text = source.line(line)
    return Fault(source.shown, line, column, what, "", text, max(1, len(text.rstrip()) - column + 1))

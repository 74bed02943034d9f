"""The import rules: which package may know which, what may be loaded at import time, and that the two halves never meet.

The compiler half (frontend, ir, backends, build) needs LLVM and no driver; the runtime half (runtime, handles) needs NumPy, a driver's
binding on first use, and no compiler. They share `lang` and `artifacts`. The rules are read from the source (imports inside functions
and under ``TYPE_CHECKING`` count too), then tried in fresh interpreters.
"""

from __future__ import annotations

import ast
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "gompute"

SHARED = {"errors", "targets", "lang", "artifacts"}

# package -> the packages of Gompute that it may import, itself aside
LAYERS: dict[str, set[str]] = {
    "errors": set(),
    "targets": {"errors"},
    "lang": {"errors", "targets"},
    "artifacts": {"errors", "targets", "lang"},
    "math": {"errors", "targets", "lang"},
    "frontend": SHARED | {"math"},
    "ir": SHARED | {"frontend"},
    "backends": SHARED | {"frontend", "ir"},
    "build": SHARED | {"frontend", "ir", "backends"},
    "manifest": SHARED | {"frontend"},
    "runtime": SHARED,
    "handles": SHARED | {"runtime"},
}
COMPILER_HALF = ("frontend", "ir", "backends", "build")
RUNTIME_HALF = ("runtime", "handles")

TOOLCHAIN = {"llvmlite", "ziglang", "nvidia"}
DRIVERS = {"cuda", "hip", "rocm"}
SCREEN = {"click", "rich", "PIL"}

# May know every package, and so may not be known by one: the command line, the lazy front of the package, and the door between the halves.
ABOVE_ALL = {"cli", "__main__", "__init__"}
DOOR = "in_process"
MAY_OPEN_THE_DOOR = {"lang", "runtime", "handles"} | ABOVE_ALL

# package -> third-party packages that it may import at module level, and those that it may import inside a function
AT_MODULE_LEVEL: dict[str, set[str]] = {
    "ir": {"llvmlite"},
    "backends": {"llvmlite"},
    "build": {"llvmlite"},
    "runtime": {"numpy"},
    "handles": {"numpy"},
    "cli": {"click", "rich"},
}
ON_FIRST_USE: dict[str, set[str]] = {
    "lang": {"numpy"},
    "ir": {"llvmlite"},
    "backends": {"llvmlite", "ziglang", "nvidia"},
    "build": {"llvmlite", "ziglang", "nvidia"},
    "runtime": {"numpy", "cuda", "hip", "rocm"},
    "handles": {"numpy"},
    "cli": {"click", "rich", "numpy", "PIL"},
    DOOR: {"numpy"},
}


@dataclass(frozen=True)
class Import:
    """One import of one module: `name` is dotted and absolute, `lazy` says that it runs on a call, `typing_only` that it never runs."""

    name: str
    line: int
    lazy: bool
    typing_only: bool


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES: dict[str, Path] = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def package_of(module: str) -> str:
    """The part of the house that a module of Gompute belongs to: ``gompute.lang.types`` -> ``lang``, ``gompute`` -> ``__init__``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports_of(path: Path, module: str) -> Iterator[Import]:
    """Every import in a file: statements wherever they stand, and calls of ``import_module`` or ``__import__`` on a constant."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]

    def visit(node: ast.AST, lazy: bool, typing_only: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, lazy, typing_only)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                anchor = package.split(".")
                base = ".".join(anchor[: len(anchor) - node.level + 1] + ([base] if base else []))
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield Import(full if full in MODULES else base, node.lineno, lazy, typing_only)
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__") and node.args and isinstance(node.args[0], ast.Constant):
                yield Import(str(node.args[0].value), node.lineno, lazy, typing_only)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for child in node.body:
                yield from visit(child, lazy, True)
            for child in node.orelse:
                yield from visit(child, lazy, typing_only)
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda), typing_only)

    yield from visit(ast.parse(path.read_text(encoding="utf-8"), str(path)), False, False)


IMPORTS: dict[str, tuple[Import, ...]] = {name: tuple(imports_of(path, name)) for name, path in MODULES.items()}


def test_the_reader_sees_every_form_of_import(tmp_path: Path) -> None:
    source = tmp_path / "sample.py"
    source.write_text(
        dedent(
            """
            import os.path, numpy
            from . import errors
            from .. import errors as two_up
            from gompute.lang import types, no_such_module
            if TYPE_CHECKING:
                import gompute.runtime.cuda
            else:
                import hip
            class C:
                def f(self):
                    import llvmlite.binding
                    return importlib.import_module("click")
            """
        )
    )
    found = [(i.name, i.lazy, i.typing_only) for i in imports_of(source, "gompute.lang.sample")]
    assert found == [
        ("os.path", False, False),
        ("numpy", False, False),
        ("gompute.lang", False, False),
        ("gompute.errors", False, False),
        ("gompute.lang.types", False, False),
        ("gompute.lang", False, False),
        ("gompute.runtime.cuda", False, True),
        ("hip", False, False),
        ("llvmlite.binding", True, False),
        ("click", True, False),
    ]


def where(module: str, found: Import) -> str:
    return f"{MODULES[module].relative_to(ROOT)}:{found.line}: imports {found.name}"


def test_every_package_has_a_place_in_the_house() -> None:
    known = set(LAYERS) | ABOVE_ALL | {DOOR}
    assert {package_of(module) for module in MODULES} <= known
    assert set(LAYERS) <= {package_of(module) for module in MODULES}, "the table names a package that is gone"


def test_imports_go_only_downwards() -> None:
    wrong = []
    for module, imports in IMPORTS.items():
        here = package_of(module)
        for found in imports:
            if found.name.split(".")[0] != "gompute":
                continue
            there = package_of(found.name)
            if here in (there, DOOR) or here in ABOVE_ALL:
                continue
            if there == DOOR and here in MAY_OPEN_THE_DOOR and found.lazy:
                continue
            if there not in LAYERS.get(here, set()):
                wrong.append(f"{where(module, found)}; {here} may import: {', '.join(sorted(LAYERS.get(here, set()))) or 'nothing'}")
    assert not wrong, "\n".join(wrong)


def test_the_halves_never_meet() -> None:
    for half, other in ((COMPILER_HALF, RUNTIME_HALF), (RUNTIME_HALF, COMPILER_HALF)):
        for package in half:
            assert not LAYERS[package] & set(other)
    assert not any(SHARED & set(half) for half in (COMPILER_HALF, RUNTIME_HALF))


def test_the_door_and_the_front_open_lazily() -> None:
    wrong = [
        where(module, found)
        for module in ("gompute", f"gompute.{DOOR}")
        for found in IMPORTS.get(module, ())
        if found.name.startswith("gompute")
        and not found.lazy
        and not found.typing_only
        and package_of(found.name) not in {"errors", "lang", "artifacts", "targets"}
    ]
    assert not wrong, "\n".join(wrong)


def test_third_party_packages_are_imported_where_they_belong() -> None:
    wrong = []
    for module, imports in IMPORTS.items():
        here = package_of(module)
        for found in imports:
            top = found.name.split(".")[0]
            if top in sys.stdlib_module_names or top == "gompute":
                continue
            allowed = AT_MODULE_LEVEL.get(here, set())
            if found.lazy or found.typing_only:
                allowed = allowed | ON_FIRST_USE.get(here, set())
            if top not in allowed:
                wrong.append(
                    f"{where(module, found)} {'on first use' if found.lazy else 'at module level'}; allowed here: {sorted(allowed)}"
                )
    assert not wrong, "\n".join(wrong)


def test_no_cycle_at_import_time() -> None:
    graph = {
        module: sorted({found.name for found in imports if found.name in MODULES and not found.lazy and not found.typing_only})
        for module, imports in IMPORTS.items()
    }
    done: set[str] = set()
    path: list[str] = []

    def walk(module: str) -> None:
        assert module not in path, "import cycle: " + " -> ".join([*path[path.index(module) :], module])
        if module in done:
            return
        path.append(module)
        for imported in graph[module]:
            walk(imported)
        path.pop()
        done.add(module)

    for module in graph:
        walk(module)
    assert len(done) == len(MODULES)


def fresh(code: str) -> str:
    """Run code in a new interpreter that has nothing from this environment but the place of the package; gives its standard output."""
    done = subprocess.run(
        [sys.executable, "-c", dedent(code)],
        env={"PYTHONPATH": str(ROOT)},
        cwd=os.sep,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_loads_no_compiler_no_driver_and_no_numpy() -> None:
    loaded = fresh("import sys, gompute; print(*sorted({name.partition('.')[0] for name in sys.modules}))").split()
    assert "gompute" in loaded
    assert not ({"numpy"} | TOOLCHAIN | DRIVERS | SCREEN) & set(loaded)


def test_importing_the_package_costs_at_most_numpy_and_20_ms() -> None:
    code = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
    seconds: dict[str, list[float]] = {"gompute": [], "numpy": []}
    for _ in range(7):
        for name, times in seconds.items():
            times.append(float(fresh(code.format(name))))
    assert statistics.median(seconds["gompute"]) <= statistics.median(seconds["numpy"]) + 0.020


def test_a_root_can_be_lowered_before_the_code_generators_are_loaded() -> None:
    """They take as long to load as the rest of the compiler, and are wanted when the first kernel is lowered."""
    loaded = """
        import sys
        from gompute.build import worker
        order = {"work": "lower", "target": "sm_89"}
        worker.prepare(order)
        print("llvmlite" in sys.modules)
        worker.foresee(order)
        print("llvmlite" in sys.modules, "gompute.backends.nvptx" in sys.modules)
    """
    assert fresh(loaded).split() == ["False", "True", "True"]


def test_text_is_joined_where_no_code_generator_is_loaded() -> None:
    """The calling process puts PTX together itself, and would take longer to load one than to join."""
    assert fresh('import sys, gompute.build.making; print("llvmlite" in sys.modules, "gompute.backends.ptx" in sys.modules)').split() == [
        "False",
        "True",
    ]


@pytest.mark.parametrize(
    ("packages", "poisoned"),
    [
        pytest.param(COMPILER_HALF, {"numpy"} | DRIVERS | SCREEN | set(RUNTIME_HALF), id="compiler"),
        pytest.param(RUNTIME_HALF, TOOLCHAIN | DRIVERS | SCREEN | set(COMPILER_HALF), id="runtime"),
        pytest.param(tuple(SHARED), {"numpy"} | TOOLCHAIN | DRIVERS | SCREEN | set(COMPILER_HALF + RUNTIME_HALF), id="shared"),
    ],
)
def test_each_half_imports_without_the_other(packages: tuple[str, ...], poisoned: set[str]) -> None:
    modules = [module for module in MODULES if package_of(module) in packages]
    assert modules
    fresh(
        f"""
        import importlib, sys
        for name in {sorted(poisoned)!r}:
            sys.modules[f"gompute.{{name}}" if name in {sorted(LAYERS)!r} else name] = None
        for name in {modules!r}:
            importlib.import_module(name)
        """
    )


def test_nothing_below_the_command_line_knows_the_scanner_of_host_code() -> None:
    """An edit of it then compiles no kernel again, and no program that runs kernels loads it."""
    users = {package_of(module) for module, imports in IMPORTS.items() for found in imports if package_of(found.name) == "manifest"}
    assert users <= {"manifest", "cli"}

"""What a child of the zygote does: compile one unit. Importing this module loads the whole compiler, once, in the zygote."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gompute import backends, frontend
from gompute.artifacts.entry import KernelEntry
from gompute.artifacts.name_table import kernel_from_json, kernel_to_json
from gompute.backends.limits import check_limits
from gompute.errors import Error, InternalError
from gompute.targets import parse_target

__all__ = ["compile_unit"]

Answer = tuple[Mapping[str, Any], Sequence[bytes]]


def compile_unit(order: Mapping[str, Any], report: Callable[[str, Sequence[str]], None]) -> Answer:
    """Do one order of `gompute.build.job`; what goes wrong becomes an answer too, unless it ends the process."""
    try:
        return _compile(order, report)
    except Error as error:
        return {"status": "refused", "message": str(error)}, ()
    except OSError as error:  # no file left to open, no room to write
        return {"status": "refused", "message": f"the compiler's process could not go on: {error}"}, ()
    except InternalError as error:
        return {"status": "bug", "message": str(error)}, ()
    except Exception:
        return {"status": "bug", "message": traceback.format_exc()}, ()


def _compile(order: Mapping[str, Any], report: Callable[[str, Sequence[str]], None]) -> Answer:
    if order["work"] == "ir":
        from gompute.build.ir_tool import serve_ir  # most workers compile

        return serve_ir(order), ()
    target = parse_target(order["target"])
    sources: tuple[Path, ...] = ()
    left_out: tuple[str, ...] = ()
    report("check", ())
    if order["work"] == "codegen":
        ir: str = order["ir"]
        kernels: tuple[KernelEntry, ...] = tuple(kernel_from_json(kernel) for kernel in order["kernels"])
    else:
        imports = None if order["imports"] is None else [Path(path) for path in order["imports"]]
        os.chdir(order["folder"])
        root = frontend.compile_root(Path(order["source"]), name=order["root"], imports=imports, target=target, kernels=order["kernels"])
        ir, kernels, sources, left_out = root.ir, root.kernels, root.sources, root.left_out
    done: dict[str, Any] = {
        "status": "done",
        "sources": [str(path) for path in sources],
        "left_out": list(left_out),
        "blobs": [],
        "listings": {},
        "toolchain": {},
    }
    if order["work"] == "check":
        # What a launch passes is known without code; shared memory is not.
        check_limits(kernels, dict.fromkeys((kernel.symbol for kernel in kernels), 0), target)
        return {**done, "kernels": [kernel_to_json(kernel) for kernel in kernels]}, ()
    report("codegen", [kernel.name for kernel in kernels])
    generated = backends.generate(ir, kernels, target, emit=frozenset(order["emit"]))
    done["kernels"] = [kernel_to_json(kernel) for kernel in generated.kernels]
    done["blobs"] = [{"kind": blob.kind, "version": blob.version} for blob in generated.blobs]
    done["listings"] = dict(generated.listings)
    done["toolchain"] = dict(generated.toolchain)
    return done, [blob.data for blob in generated.blobs]

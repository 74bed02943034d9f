"""The calling process's end of ``gompute ir``: LLVM, which may end the process over a broken file, works in a child of the zygote."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gompute.build.task import how_it_ended
from gompute.build.zygote import Zygote, ZygoteEnded
from gompute.errors import CompileError, InternalError

__all__ = ["IrAction", "IrForm", "IrResult", "run_ir_tool", "serve_ir"]

IrAction = Literal["kernels", "rewrite", "prune"]
IrForm = Literal["text", "bitcode"]


@dataclass(frozen=True, slots=True)
class IrResult:
    """What became of a module.

    Attributes:
        kernels: each public kernel as `name(types)`, with `symbol` and `function` (before the rewrite).
        warnings: where its meaning may have changed.
        data: the new module; empty for `kernels`.
    """

    kernels: tuple[dict[str, str], ...]
    warnings: tuple[str, ...]
    data: bytes

    @property
    def launch_names(self) -> tuple[str, ...]:
        """The names that a kernel set has the kernels under, sorted."""
        return tuple(sorted(kernel["symbol"] for kernel in self.kernels))

    @property
    def names(self) -> dict[str, str]:
        """Symbol by public name, sorted."""
        return dict(sorted((kernel["public"], kernel["symbol"]) for kernel in self.kernels))


def run_ir_tool(zygote: Zygote, action: IrAction, file: Path, *, form: IrForm = "text", keep: Sequence[str] = ()) -> IrResult:
    """Read a `.ll` or `.bc` file, and rewrite or prune it; see `gompute.ir.rewrite`.

    Args:
        form: of the new module.
        keep: for `prune`: public names.

    Raises:
        CompileError: the file cannot be read as a module, has no kernels, or LLVM gave up over it.
    """
    with tempfile.TemporaryDirectory(prefix="gompute-ir-") as scratch:
        zygote.guard(Path(scratch))
        made = Path(scratch) / "module"
        zygote.send(
            {
                "order": "unit",
                "unit": 0,
                "work": "ir",
                "action": action,
                "file": str(file.absolute()),
                "where": str(file),
                "form": form,
                "keep": list(keep),
                "output": str(made),
            }
        )
        try:
            message = zygote.receive()
        except ZygoteEnded as ended:
            raise CompileError(f"{file}: {ended}. Nothing was written.") from None
        zygote.release()
        assert message is not None
        body = message.body
        if body["report"] == "died":
            raise CompileError(_death(file, body["signal"], body["status"], str(body["said"])))
        answer = body["answer"]
        match answer["status"]:
            case "done":
                data = made.read_bytes() if action != "kernels" else b""
                return IrResult(tuple(answer["kernels"]), tuple(answer["warnings"]), data)
            case "refused":
                raise CompileError(str(answer["message"]))
        raise InternalError(f"{file}: {answer['message']}")


def _death(file: Path, number: int | None, status: int | None, said: str) -> str:
    return (
        f"{file}: the process in which LLVM reads the module {how_it_ended(number, status, said)}\n"
        "  The file is broken, or brings out a fault in LLVM. If another version of LLVM made it, have that one write it again, as text "
        "(.ll)."
    )


def serve_ir(order: Mapping[str, Any]) -> dict[str, Any]:
    """In a worker: do one order of `run_ir_tool`."""
    try:
        return _serve(order)
    except OSError as error:
        raise CompileError(f"{order['where']}: {error}") from None


def _serve(order: Mapping[str, Any]) -> dict[str, Any]:
    from gompute.ir import rewrite as tool  # most workers compile

    where: str = order["where"]
    file = Path(order["file"])
    warnings: Sequence[str] = ()
    if order["action"] == "kernels":
        kernels = tool.kernels(file.read_bytes(), where)
    else:
        rewritten = order["action"] == "rewrite"
        result = tool.rewrite(file.read_bytes(), where) if rewritten else tool.prune(file.read_bytes(), where, order["keep"])
        kernels, warnings = result.kernels, result.warnings
        made = tool.bitcode(result.text, where) if order["form"] == "bitcode" else result.text.encode()
        Path(order["output"]).write_bytes(made)
    listed = [
        {"public": kernel.public, "symbol": kernel.symbol, "function": kernel.function, "signature": str(kernel)} for kernel in kernels
    ]
    return {"status": "done", "kernels": listed, "warnings": list(warnings)}

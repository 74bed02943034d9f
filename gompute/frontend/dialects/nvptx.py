"""NVIDIA: PTX through LLVM's NVPTX backend."""

from __future__ import annotations

from gompute.frontend import typed
from gompute.frontend.dialects.gpu import GpuDialect
from gompute.frontend.irtext.text import FunctionText
from gompute.lang.types import ParamsType

_REGISTERS = {"local_id": "tid", "block_id": "ctaid", "block_dim": "ntid", "grid_dim": "nctaid"}


class NvptxDialect(GpuDialect):
    """Params structs are byval parameters in the generic address space, which is what LLVM turns into ``ld.param``. Constant tables lie in
    global memory: the constant bank holds 64 KiB and serialises work-items that read different elements."""

    triple = "nvptx64-nvidia-cuda"
    data_layout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
    entry_convention = "ptx_kernel"
    params_pointer = "ptr"
    private_pointer = "ptr"
    alloca_suffix = ""
    table_pointer = "ptr addrspace(1)"
    table_space = "addrspace(1) "
    module_metadata = ""

    def index(self, text: FunctionText, name: typed.IndexName, dim: int) -> str:
        """A special register, or block_id * block_dim + local_id."""
        if name == "global_id":
            return self._global_id(text, dim)
        register = text.intrinsic(f"llvm.nvvm.read.ptx.sreg.{_REGISTERS[name]}.{'xyz'[dim]}", "i32")
        return text.value(f"zext i32 {register} to i64")

    def params_argument(self, params: ParamsType) -> str:
        """A byval parameter."""
        return f"ptr byval([{params.size} x i8]) align {params.align}"

    def block_attributes(self, block_size: tuple[int, int, int], *, exact: bool) -> str:
        """``.reqntid`` or ``.maxntid``."""
        return f'"nvvm.{"reqntid" if exact else "maxntid"}"="{",".join(map(str, block_size))}"'

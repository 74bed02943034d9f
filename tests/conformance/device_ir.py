"""A GPU module's IR without what the backends own: address spaces, calling conventions, and how a work-item reads where it is.

What is left must be the same for NVIDIA and AMD: then a kernel whose PTX gives the right numbers means the same on AMD.
"""

from __future__ import annotations

import re

#: Reads of a coordinate, for each vendor: a pattern of lines, and the coordinate's name. `{}` is x, y or z; groups v and d are values.
_NVIDIA = {"tid": "local_id", "ctaid": "block_id", "ntid": "block_dim", "nctaid": "grid_dim"}
_AMD = {"workitem": "local_id", "workgroup": "block_id"}
#: Offsets in AMD's implicit arguments.
_IMPLICIT = {0: "grid_dim.x", 4: "grid_dim.y", 8: "grid_dim.z", 12: "block_dim.x", 14: "block_dim.y", 16: "block_dim.z"}

_REGISTER = re.compile(
    r"^  (?P<v>%\w+) = call i32 @llvm\.(?:nvvm\.read\.ptx\.sreg\.(?P<n>\w+)|amdgcn\.(?P<a>\w+)\.id)\.(?P<axis>[xyz])\(\)\n"
    r"  (?P<d>%\w+) = zext i32 (?P=v) to i64\n",
    re.MULTILINE,
)
_IMPLICIT_READ = re.compile(
    r"^  (?P<p>%\w+) = call ptr @llvm\.amdgcn\.implicitarg\.ptr\(\)\n"
    r"  (?P<g>%\w+) = getelementptr inbounds i8, ptr (?P=p), i64 (?P<offset>\d+)\n"
    r"  (?P<v>%\w+) = load i\d+, ptr (?P=g), align \d+, !invariant\.load !{}\n"
    r"  (?P<d>%\w+) = zext i\d+ (?P=v) to i64\n",
    re.MULTILINE,
)
#: The barrier of a block: AMD's waits and orders nothing by itself.
_BARRIERS = re.compile(
    r"  call void @llvm\.nvvm\.barrier\.cta\.sync\.aligned\.all\(i32 0\)\n"
    r'|  fence syncscope\("workgroup"\) release\n  call void @llvm\.amdgcn\.s\.barrier\(\)\n  fence syncscope\("workgroup"\) acquire\n'
)
_SCOPES = {"block": "block", "workgroup": "block", "device": "device", "agent": "device"}
_FUNCTION = re.compile(r"^define [^\n]*@(\w+)\(.*?^}$", re.MULTILINE | re.DOTALL)
_VALUE = re.compile(r"%[\w.$-]+")
_VENDOR = re.compile(r"@llvm\.(?:nvvm|amdgcn)\.[\w.]+")


def functions(ir: str) -> dict[str, str]:
    """Each function of a module, brought to the common form."""
    return {found[1]: _common(found[0]) for found in _FUNCTION.finditer(ir)}


def owned(body: str) -> set[str]:
    """The intrinsics of a vendor that are left in a function."""
    return set(_VENDOR.findall(body))


def _common(body: str) -> str:
    body = re.sub(r" ?,? addrspace\(\d+\)", "", body)
    body = body.replace("ptx_kernel ", "kernel ").replace("amdgpu_kernel ", "kernel ")
    body = re.sub(r"\b(?:byval|byref)\(", "params(", body)
    body = re.sub(r' "(?:nvvm\.reqntid|nvvm\.maxntid|amdgpu-flat-work-group-size)"="[\d,]+"', "", body)
    body = _REGISTER.sub(lambda m: f"  {m['d']} = {_NVIDIA[m['n']] if m['n'] else _AMD[m['a']]}.{m['axis']}\n", body)
    body = _IMPLICIT_READ.sub(lambda m: f"  {m['d']} = {_IMPLICIT[int(m['offset'])]}\n", body)
    body = _BARRIERS.sub("  barrier\n", body)
    body = re.sub(r'syncscope\("(\w+)"\)', lambda m: f"scope {_SCOPES.get(m[1], m[1])}", body)
    # What AMD must know of memory to use its atomic instructions; and metadata is numbered through the module.
    body = re.sub(r", !amdgpu\.[\w.]+ !\{\}", "", body)
    body = re.sub(r"!llvm\.loop !\d+", "!llvm.loop", body)
    names: dict[str, str] = {}
    return _VALUE.sub(lambda m: names.setdefault(m[0], f"%v{len(names)}"), body)


def tables(ir: str) -> list[str]:
    """The module's constants, without the space that they lie in."""
    return [re.sub(r" addrspace\(\d+\)", "", line) for line in ir.splitlines() if line.startswith("@")]

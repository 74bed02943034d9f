"""Code generation: a verified module of LLVM IR in, blobs for one target out.

`pipeline` is the way through, and `joining` its end where that is text; `nvptx`, `amdgcn` and `cpu` are the backends; `lld` and `ptxas` run
the tools that LLVM needs beside it; `ptx`, `elf` and `codeobject` read back what came out.
"""

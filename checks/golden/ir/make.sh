#!/bin/bash
# Makes the inputs that come from other compilers: sources/* -> zig-*.ll, clang-*.ll, hip-*.ll, cuda-*.ll, rust-*.ll. The rest of the inputs
# are written by hand.
# Run here, with ZIG16 and ZIG17 set to commands that run Zig 0.16 and 0.17 (PyPI: ziglang 0.16.0, 0.17.1; the second is clang 22 too), and
# clang 14 and rustc 1.95 on the PATH.
# Afterwards: pytest tests/ir/test_golden.py --update
set -euo pipefail
cd "$(dirname "$0")"

for version in 16 17; do
    zig=ZIG$version
    for target in nvptx64-cuda:sm_89 amdgcn-amdhsa:gfx1100; do
        (cd sources && ${!zig} build-obj kernels.zig -target "${target%:*}" -mcpu "${target#*:}" -O ReleaseFast -fstrip \
            -fno-emit-bin "-femit-llvm-ir=../zig-0.$version-${target%%-*}.ll")
    done
done

cl=(clang -x cl -cl-std=CL1.2 -O1 -S -emit-llvm -nogpulib)
nvptx=(-target nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang sm_75 "-DGROUP=__nvvm_read_ptx_sreg_ctaid_x()" "-DLOCAL=__nvvm_read_ptx_sreg_tid_x()")
amdgcn=(-target amdgcn-amd-amdhsa -mcpu=gfx1030 "-DGROUP=__builtin_amdgcn_workgroup_id_x()" "-DLOCAL=__builtin_amdgcn_workitem_id_x()")
(
    cd sources
    "${cl[@]}" "${nvptx[@]}" kernels.cl -o ../clang-nvptx64.ll
    "${cl[@]}" "${amdgcn[@]}" kernels.cl -o ../clang-amdgcn.ll
    # With debug info (of a calling convention that DWARF has given up), and exported as by Zig 0.16: a private definition with two aliases.
    "${cl[@]}" "${amdgcn[@]}" -g -fdebug-compilation-dir=/src kernels.cl -o - |
        sed 's/cc: DW_CC_LLVM_OpenCLKernel, //; s/protected amdgpu_kernel void @raw_scale/private amdgpu_kernel void @raw_scale.0/; 0,/^; Function Attrs/s//\n@raw_scale = alias void (float addrspace(1)*, i64, float), void (float addrspace(1)*, i64, float)* @raw_scale.0\n@raw_scale_again = alias void (float addrspace(1)*, i64, float), void (float addrspace(1)*, i64, float)* @raw_scale.0\n\n&/' \
            >../debug.ll
)

# HIP and CUDA, the device's half alone.
cxx=($ZIG17 clang -std=c++20 -O1 -S -emit-llvm -ffp-contract=off -fuse-cuid=none --cuda-device-only)
(
    cd sources
    "${cxx[@]}" -x hip --offload-arch=gfx1100 -nogpuinc -nogpulib "${amdgcn[@]:3}" kernels.hip -o ../hip-amdgcn.ll
    "${cxx[@]}" -x cuda --offload-arch=sm_89 -nocudainc -nocudalib "${nvptx[@]:6}" kernels.hip -o ../cuda-nvptx64.ll
)

# Without core, which is built for no GPU; hence what only unstable Rust has.
rust=(env RUSTC_BOOTSTRAP=1 rustc --edition 2024 -O --emit=llvm-ir kernels.rs)
(
    cd sources
    "${rust[@]}" --target nvptx64-nvidia-cuda -o ../rust-nvptx64.ll
    "${rust[@]}" --target amdgcn-amd-amdhsa -C target-cpu=gfx1100 -o ../rust-amdgcn.ll
)

source_filename = "kernels.10e27077f27b0680-cgu.0"
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite)
define protected amdgpu_kernel void @raw_add_64b1dd57(ptr noundef captures(none) %data, float noundef %other, i64 noundef %_len) unnamed_addr #0 {
start:
  %0 = addrspacecast ptr %data to ptr addrspace(1)
  %_4 = load float, ptr addrspace(1) %0, align 4, !noundef !2, !amdgpu.noclobber !2
  %1 = fadd float %other, %_4
  store float %1, ptr addrspace(1) %0, align 4
  ret void
}

attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite) "target-cpu"="gfx1100" }

!llvm.module.flags = !{!0}
!llvm.ident = !{!1}

!0 = !{i32 8, !"PIC Level", i32 2}
!1 = !{!"rustc version 1.95.0 (59807616e 2026-04-14)"}
!2 = !{}

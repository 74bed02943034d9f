source_filename = "kernels.10e27077f27b0680-cgu.0"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite)
define ptx_kernel void @raw_add_64b1dd57(ptr noundef captures(none) %data, float noundef %other, i64 noundef %_len) unnamed_addr #0 {
start:
  %_4 = load float, ptr %data, align 4, !noundef !2
  %0 = fadd float %other, %_4
  store float %0, ptr %data, align 4
  ret void
}

attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite) "target-cpu"="sm_30" }

!llvm.module.flags = !{!0}
!llvm.ident = !{!1}

!0 = !{i32 8, !"PIC Level", i32 2}
!1 = !{!"rustc version 1.95.0 (59807616e 2026-04-14)"}
!2 = !{}

; ModuleID = 'kernels.10e27077f27b0680-cgu.0'
source_filename = "kernels.10e27077f27b0680-cgu.0"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; kernels::times
; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none)
define internal fastcc noundef float @_RNvCs1rSj9lpybjo_7kernels5times(float noundef %a, float noundef %b) unnamed_addr #0 {
start:
  %_0 = fmul float %a, %b
  ret float %_0
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite)
define ptx_kernel void @raw.add(ptr noundef captures(none) %data, float noundef %other, i64 noundef %_len) unnamed_addr #1 {
start:
  %_4 = load float, ptr %data, align 4, !noundef !2
  %0 = fadd float %other, %_4
  store float %0, ptr %data, align 4
  ret void
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite)
define ptx_kernel void @raw_scale(ptr noundef captures(none) %data, float noundef %factor) unnamed_addr #1 {
start:
  %_4 = load float, ptr %data, align 4, !noundef !2
; call kernels::times
  %_3 = tail call fastcc noundef float @_RNvCs1rSj9lpybjo_7kernels5times(float noundef %_4, float noundef %factor) #2
  store float %_3, ptr %data, align 4
  ret void
}

attributes #0 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none) "target-cpu"="sm_30" }
attributes #1 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite) "target-cpu"="sm_30" }
attributes #2 = { noinline nounwind }

!llvm.module.flags = !{!0}
!llvm.ident = !{!1}

!0 = !{i32 8, !"PIC Level", i32 2}
!1 = !{!"rustc version 1.95.0 (59807616e 2026-04-14)"}
!2 = !{}

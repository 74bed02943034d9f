; ModuleID = 'kernels.cl'
source_filename = "kernels.cl"
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: convergent mustprogress nofree noinline norecurse nosync nounwind willreturn
define dso_local spir_kernel void @raw_scale(float addrspace(1)* nocapture noundef %0, i64 noundef %1, float noundef %2) local_unnamed_addr #0 !kernel_arg_addr_space !6 !kernel_arg_access_qual !7 !kernel_arg_type !8 !kernel_arg_base_type !8 !kernel_arg_type_qual !9 {
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = shl nsw i32 %4, 8
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = add nsw i32 %5, %6
  %8 = zext i32 %7 to i64
  %9 = icmp ult i64 %8, %1
  br i1 %9, label %10, label %14

10:                                               ; preds = %3
  %11 = getelementptr inbounds float, float addrspace(1)* %0, i64 %8
  %12 = load float, float addrspace(1)* %11, align 4, !tbaa !10
  %13 = call fastcc float @times(float noundef %12, float noundef %2)
  store float %13, float addrspace(1)* %11, align 4, !tbaa !10
  br label %14

14:                                               ; preds = %10, %3
  ret void
}

; Function Attrs: nofree nosync nounwind readnone speculatable
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nofree nosync nounwind readnone speculatable
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind readnone willreturn
define internal fastcc float @times(float noundef %0, float noundef %1) unnamed_addr #2 {
  %3 = fmul float %0, %1
  ret float %3
}

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn
define dso_local spir_kernel void @raw_add(float addrspace(1)* nocapture noundef %0, i64 noundef %1, float noundef %2) local_unnamed_addr #3 !kernel_arg_addr_space !6 !kernel_arg_access_qual !7 !kernel_arg_type !8 !kernel_arg_base_type !8 !kernel_arg_type_qual !9 !reqd_work_group_size !14 {
  %4 = icmp eq i64 %1, 0
  br i1 %4, label %8, label %5

5:                                                ; preds = %3
  %6 = load float, float addrspace(1)* %0, align 4, !tbaa !10
  %7 = fadd float %6, %2
  store float %7, float addrspace(1)* %0, align 4, !tbaa !10
  br label %8

8:                                                ; preds = %5, %3
  ret void
}

attributes #0 = { convergent mustprogress nofree noinline norecurse nosync nounwind willreturn "frame-pointer"="all" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx32,+sm_75" "uniform-work-group-size"="true" }
attributes #1 = { nofree nosync nounwind readnone speculatable }
attributes #2 = { mustprogress nofree noinline norecurse nosync nounwind readnone willreturn "frame-pointer"="all" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx32,+sm_75" }
attributes #3 = { mustprogress nofree noinline norecurse nosync nounwind willreturn "frame-pointer"="all" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_75" "target-features"="+ptx32,+sm_75" "uniform-work-group-size"="true" }

!nvvm.annotations = !{!0, !1}
!llvm.module.flags = !{!2, !3}
!opencl.ocl.version = !{!4}
!llvm.ident = !{!5}

!0 = !{void (float addrspace(1)*, i64, float)* @raw_scale, !"kernel", i32 1}
!1 = !{void (float addrspace(1)*, i64, float)* @raw_add, !"kernel", i32 1}
!2 = !{i32 1, !"wchar_size", i32 4}
!3 = !{i32 7, !"frame-pointer", i32 2}
!4 = !{i32 1, i32 2}
!5 = !{!"Debian clang version 14.0.6"}
!6 = !{i32 1, i32 0, i32 0}
!7 = !{!"none", !"none", !"none"}
!8 = !{!"float*", !"ulong", !"float"}
!9 = !{!"", !"", !""}
!10 = !{!11, !11, i64 0}
!11 = !{!"float", !12, i64 0}
!12 = !{!"omnipotent char", !13, i64 0}
!13 = !{!"Simple C/C++ TBAA"}
!14 = !{i32 256, i32 1, i32 1}

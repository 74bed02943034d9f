source_filename = "kernels"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: mustprogress nofree norecurse noredzone nosync nounwind willreturn memory(argmem: readwrite)
define ptx_kernel void @raw_scale(ptr addrspace(1) captures(none) %0, i64 %1, float %2) local_unnamed_addr #0 {
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = shl nuw i32 %5, 8
  %7 = add nuw i32 %6, %4
  %8 = zext i32 %7 to i64
  %9 = icmp ugt i64 %1, %8
  br i1 %9, label %11, label %10

10:                                               ; preds = %11, %3
  ret void

11:                                               ; preds = %3
  %12 = getelementptr inbounds nuw [4 x i8], ptr addrspace(1) %0, i64 %8
  %13 = load float, ptr addrspace(1) %12, align 4
  %14 = fmul float %2, %13
  store float %14, ptr addrspace(1) %12, align 4
  br label %10
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nofree norecurse noredzone nosync nounwind willreturn memory(argmem: readwrite)
define ptx_kernel void @raw_add_again(ptr addrspace(1) captures(none) %0, i64 %1, float %2) local_unnamed_addr #0 {
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = shl nuw i32 %5, 8
  %7 = add nuw i32 %6, %4
  %8 = zext i32 %7 to i64
  %9 = icmp ugt i64 %1, %8
  br i1 %9, label %11, label %10

10:                                               ; preds = %11, %3
  ret void

11:                                               ; preds = %3
  %12 = getelementptr inbounds nuw [4 x i8], ptr addrspace(1) %0, i64 %8
  %13 = load float, ptr addrspace(1) %12, align 4
  %14 = fadd float %2, %13
  store float %14, ptr addrspace(1) %12, align 4
  br label %10
}

attributes #0 = { mustprogress nofree norecurse noredzone nosync nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "target-cpu"="sm_89" "target-features"="+sm_89,-ptx32,-ptx40,-ptx41,-ptx42,-ptx43,-ptx50,-ptx60,-ptx61,-ptx62,-ptx63,-ptx64,-ptx65,-ptx70,-ptx71,-ptx72,-ptx73,-ptx74,-ptx75,-ptx76,-ptx77,-ptx78,-ptx80,-ptx81,-ptx82,-ptx83,-ptx84,-ptx85,-ptx86,-ptx87,-ptx88,-ptx90,-sm_100,-sm_100a,-sm_100f,-sm_101,-sm_101a,-sm_101f,-sm_103,-sm_103a,-sm_103f,-sm_110,-sm_110a,-sm_110f,-sm_120,-sm_120a,-sm_120f,-sm_121,-sm_121a,-sm_121f,-sm_20,-sm_21,-sm_30,-sm_32,-sm_35,-sm_37,-sm_50,-sm_52,-sm_53,-sm_60,-sm_61,-sm_62,-sm_70,-sm_72,-sm_75,-sm_80,-sm_86,-sm_87,-sm_88,-sm_90,-sm_90a" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!llvm.module.flags = !{}

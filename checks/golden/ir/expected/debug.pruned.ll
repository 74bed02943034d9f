source_filename = "kernels.cl"
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

; Function Attrs: convergent mustprogress nofree norecurse nosync nounwind willreturn
define protected amdgpu_kernel void @raw_scale(ptr addrspace(1) noundef captures(none) %0, i64 noundef %1, float noundef %2) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !23 !kernel_arg_access_qual !24 !kernel_arg_type !25 !kernel_arg_base_type !25 !kernel_arg_type_qual !26 {
    #dbg_value(ptr addrspace(1) %0, !17, !DIExpression(DW_OP_constu, 1, DW_OP_swap, DW_OP_xderef), !27)
    #dbg_value(i64 %1, !18, !DIExpression(DW_OP_constu, 1, DW_OP_swap, DW_OP_xderef), !27)
    #dbg_value(float %2, !19, !DIExpression(DW_OP_constu, 1, DW_OP_swap, DW_OP_xderef), !27)
  %4 = call i32 @llvm.amdgcn.workgroup.id.x(), !dbg !28
  %5 = shl i32 %4, 8, !dbg !29
  %6 = call i32 @llvm.amdgcn.workitem.id.x(), !dbg !30, !range !31
  %7 = add i32 %5, %6, !dbg !32
    #dbg_value(i32 %7, !20, !DIExpression(DW_OP_constu, 1, DW_OP_swap, DW_OP_xderef), !27)
  %8 = zext i32 %7 to i64, !dbg !33
  %9 = icmp ult i64 %8, %1, !dbg !35
  br i1 %9, label %10, label %14, !dbg !36

10:                                               ; preds = %3
  %11 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %8, !dbg !37
  %12 = load float, ptr addrspace(1) %11, align 4, !dbg !37, !tbaa !38
  %13 = call fastcc float @times(float noundef %12, float noundef %2), !dbg !42
  store float %13, ptr addrspace(1) %11, align 4, !dbg !43, !tbaa !38
  br label %14, !dbg !44

14:                                               ; preds = %10, %3
  ret void, !dbg !45
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workgroup.id.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.x() #1

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none)
define internal fastcc float @times(float noundef %0, float noundef %1) unnamed_addr #2 !dbg !46 {
    #dbg_value(float %0, !50, !DIExpression(DW_OP_constu, 1, DW_OP_swap, DW_OP_xderef), !52)
    #dbg_value(float %1, !51, !DIExpression(DW_OP_constu, 1, DW_OP_swap, DW_OP_xderef), !52)
  %3 = fmul float %0, %1, !dbg !53
  ret float %3, !dbg !54
}

attributes #0 = { convergent mustprogress nofree norecurse nosync nounwind willreturn "amdgpu-flat-work-group-size"="1,256" "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx1030" "target-features"="+16-bit-insts,+ci-insts,+dl-insts,+dot1-insts,+dot2-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+flat-address-space,+gfx10-3-insts,+gfx10-insts,+gfx8-insts,+gfx9-insts,+s-memrealtime,+s-memtime-inst" "uniform-work-group-size"="true" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none) "frame-pointer"="none" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx1030" "target-features"="+16-bit-insts,+ci-insts,+dl-insts,+dot1-insts,+dot2-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+flat-address-space,+gfx10-3-insts,+gfx10-insts,+gfx8-insts,+gfx9-insts,+s-memrealtime,+s-memtime-inst" }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 14.0.6", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "kernels.cl", directory: "/src", checksumkind: CSK_MD5, checksum: "68c2dfb584515a615448408ae18f062b")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 8, !"PIC Level", i32 1}
!6 = !{i32 1, i32 2}
!7 = !{!"Debian clang version 14.0.6"}
!8 = distinct !DISubprogram(name: "raw_scale", scope: !1, file: !1, line: 3, type: !9, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !16)
!9 = !DISubroutineType(types: !10)
!10 = !{null, !11, !13, !12}
!11 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !12, size: 64)
!12 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!13 = !DIDerivedType(tag: DW_TAG_typedef, name: "ulong", file: !14, line: 103, baseType: !15)
!14 = !DIFile(filename: "/usr/lib/llvm-14/lib/clang/14.0.6/include/opencl-c-base.h", directory: "", checksumkind: CSK_MD5, checksum: "fa1685a960bf69b8d0f8ccc506cbc0c7")
!15 = !DIBasicType(name: "unsigned long", size: 64, encoding: DW_ATE_unsigned)
!16 = !{!17, !18, !19, !20}
!17 = !DILocalVariable(name: "data", arg: 1, scope: !8, file: !1, line: 3, type: !11)
!18 = !DILocalVariable(name: "len", arg: 2, scope: !8, file: !1, line: 3, type: !13)
!19 = !DILocalVariable(name: "factor", arg: 3, scope: !8, file: !1, line: 3, type: !12)
!20 = !DILocalVariable(name: "i", scope: !8, file: !1, line: 4, type: !21)
!21 = !DIDerivedType(tag: DW_TAG_typedef, name: "uint", file: !14, line: 98, baseType: !22)
!22 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!23 = !{i32 1, i32 0, i32 0}
!24 = !{!"none", !"none", !"none"}
!25 = !{!"float*", !"ulong", !"float"}
!26 = !{!"", !"", !""}
!27 = !DILocation(line: 0, scope: !8)
!28 = !DILocation(line: 4, column: 12, scope: !8)
!29 = !DILocation(line: 4, column: 18, scope: !8)
!30 = !DILocation(line: 4, column: 26, scope: !8)
!31 = !{i32 0, i32 1024}
!32 = !DILocation(line: 4, column: 24, scope: !8)
!33 = !DILocation(line: 5, column: 7, scope: !34)
!34 = distinct !DILexicalBlock(scope: !8, file: !1, line: 5, column: 7)
!35 = !DILocation(line: 5, column: 9, scope: !34)
!36 = !DILocation(line: 5, column: 7, scope: !8)
!37 = !DILocation(line: 5, column: 32, scope: !34)
!38 = !{!39, !39, i64 0}
!39 = !{!"float", !40, i64 0}
!40 = !{!"omnipotent char", !41, i64 0}
!41 = !{!"Simple C/C++ TBAA"}
!42 = !DILocation(line: 5, column: 26, scope: !34)
!43 = !DILocation(line: 5, column: 24, scope: !34)
!44 = !DILocation(line: 5, column: 16, scope: !34)
!45 = !DILocation(line: 6, column: 1, scope: !8)
!46 = distinct !DISubprogram(name: "times", scope: !1, file: !1, line: 2, type: !47, scopeLine: 2, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !49)
!47 = !DISubroutineType(types: !48)
!48 = !{!12, !12, !12}
!49 = !{!50, !51}
!50 = !DILocalVariable(name: "a", arg: 1, scope: !46, file: !1, line: 2, type: !12)
!51 = !DILocalVariable(name: "b", arg: 2, scope: !46, file: !1, line: 2, type: !12)
!52 = !DILocation(line: 0, scope: !46)
!53 = !DILocation(line: 2, column: 75, scope: !46)
!54 = !DILocation(line: 2, column: 66, scope: !46)

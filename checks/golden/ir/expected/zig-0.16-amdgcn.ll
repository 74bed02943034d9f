source_filename = "kernels"
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"


; Function Attrs: mustprogress nofree norecurse noredzone nosync nounwind willreturn memory(argmem: readwrite)
define protected amdgpu_kernel void @raw_scale(ptr addrspace(1) captures(none) %0, i64 %1, float %2) unnamed_addr #0 align 1 {
  %4 = tail call i32 @llvm.amdgcn.workitem.id.x()
  %5 = tail call i32 @llvm.amdgcn.workgroup.id.x()
  %6 = shl nuw i32 %5, 8
  %7 = add nuw i32 %6, %4
  %8 = zext i32 %7 to i64
  %9 = icmp ugt i64 %1, %8
  br i1 %9, label %11, label %10

10:                                               ; preds = %11, %3
  ret void

11:                                               ; preds = %3
  %12 = getelementptr inbounds nuw [4 x i8], ptr addrspace(1) %0, i64 %8
  %13 = load float, ptr addrspace(1) %12, align 4, !amdgpu.noclobber !0
  %14 = fmul float %2, %13
  store float %14, ptr addrspace(1) %12, align 4
  br label %10
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.amdgcn.workitem.id.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.amdgcn.workgroup.id.x() #1

; Function Attrs: mustprogress nofree norecurse noredzone nosync nounwind willreturn memory(argmem: readwrite)
define protected amdgpu_kernel void @raw_add(ptr addrspace(1) captures(none) %0, i64 %1, float %2) unnamed_addr #0 align 1 {
  %4 = tail call i32 @llvm.amdgcn.workitem.id.x()
  %5 = tail call i32 @llvm.amdgcn.workgroup.id.x()
  %6 = shl nuw i32 %5, 8
  %7 = add nuw i32 %6, %4
  %8 = zext i32 %7 to i64
  %9 = icmp ugt i64 %1, %8
  br i1 %9, label %11, label %10

10:                                               ; preds = %11, %3
  ret void

11:                                               ; preds = %3
  %12 = getelementptr inbounds nuw [4 x i8], ptr addrspace(1) %0, i64 %8
  %13 = load float, ptr addrspace(1) %12, align 4, !amdgpu.noclobber !0
  %14 = fadd float %2, %13
  store float %14, ptr addrspace(1) %12, align 4
  br label %10
}

define protected amdgpu_kernel void @raw_add_again(ptr addrspace(1) captures(none) %0, i64 %1, float %2) unnamed_addr #0 align 1 {
  %4 = tail call i32 @llvm.amdgcn.workitem.id.x()
  %5 = tail call i32 @llvm.amdgcn.workgroup.id.x()
  %6 = shl nuw i32 %5, 8
  %7 = add nuw i32 %6, %4
  %8 = zext i32 %7 to i64
  %9 = icmp ugt i64 %1, %8
  br i1 %9, label %11, label %10

10:                                               ; preds = %11, %3
  ret void

11:                                               ; preds = %3
  %12 = getelementptr inbounds nuw [4 x i8], ptr addrspace(1) %0, i64 %8
  %13 = load float, ptr addrspace(1) %12, align 4, !amdgpu.noclobber !0
  %14 = fadd float %2, %13
  store float %14, ptr addrspace(1) %12, align 4
  br label %10
}

attributes #0 = { mustprogress nofree norecurse noredzone nosync nounwind willreturn memory(argmem: readwrite) "amdgpu-agpr-alloc"="0" "amdgpu-no-completion-action" "amdgpu-no-default-queue" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-flat-scratch-init" "amdgpu-no-heap-ptr" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-lds-kernel-id" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-x" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-waves-per-eu"="8,16" "frame-pointer"="all" "target-cpu"="gfx1100" "target-features"="+16-bit-insts,+a16,+add-no-carry-insts,+addressablelocalmemorysize65536,+allocate1_5xvgprs,+aperture-regs,+architected-flat-scratch,+atomic-fadd-no-rtn-insts,+atomic-fadd-rtn-insts,+atomic-fmin-fmax-flat-f32,+atomic-fmin-fmax-global-f32,+ci-insts,+default-component-zero,+dl-insts,+dot10-insts,+dot12-insts,+dot5-insts,+dot7-insts,+dot8-insts,+dot9-insts,+dpp,+dpp8,+extended-image-insts,+fast-denormal-f32,+fast-fmaf,+flat-address-space,+flat-atomic-fadd-f32-inst,+flat-global-insts,+flat-inst-offsets,+flat-scratch-insts,+fma-mix-insts,+fp64,+g16,+gds,+gfx10-3-insts,+gfx10_a-encoding,+gfx10_b-encoding,+gfx10-insts,+gfx11,+gfx11-insts,+gfx8-insts,+gfx9-insts,+gws,+image-insts,+int-clamp-insts,+inv-2pi-inline-imm,+ldsbankcount32,+mad-intra-fwd-bug,+max-hard-clause-length-32,+memory-atomic-fadd-f32-denormal-support,+mimg-r128,+movrel,+msaa-load-dst-sel-bug,+no-data-dep-hazard,+no-sdst-cmpx,+nsa-encoding,+packed-tid,+partial-nsa-encoding,+pk-fmac-f16-inst,+priv-enabled-trap2-nop-bug,+real-true16,+shader-cycles-register,+true16,+unaligned-buffer-access,+unaligned-ds-access,+unaligned-scratch-access,+user-sgpr-init16-bug,+valu-trans-use-hazard,+vcmpx-permlane-hazard,+vmem-write-vgpr-in-order,+vop3-literal,+vop3p,+vopd,+vscnt,-64-bit-literals,-addressablelocalmemorysize163840,-addressablelocalmemorysize32768,-agent-scope-fine-grained-remote-memory-atomics,-architected-sgprs,-ashr-pk-insts,-atomic-buffer-global-pk-add-f16-insts,-atomic-buffer-global-pk-add-f16-no-rtn-insts,-atomic-buffer-pk-add-bf16-inst,-atomic-csub-no-rtn-insts,-atomic-ds-pk-add-16-insts,-atomic-flat-pk-add-16-insts,-atomic-fmin-fmax-flat-f64,-atomic-fmin-fmax-global-f64,-atomic-global-pk-add-bf16-inst,-auto-waitcnt-before-barrier,-back-off-barrier,-bf16-cvt-insts,-bf16-trans-insts,-bf8-cvt-scale-insts,-bitop3-insts,-block-vgpr-csr,-bvh-dual-bvh-8-insts,-cumode,-cvt-fp8-vop1-bug,-cvt-pk-f16-f32-inst,-default-component-broadcast,-dot11-insts,-dot13-insts,-dot1-insts,-dot2-insts,-dot3-insts,-dot4-insts,-dot6-insts,-dpp-64bit,-dpp-src1-sgpr,-enable-ds128,-ds-src2-insts,-dynamic-vgpr,-dynamic-vgpr-block-size-32,-f16bf16-to-fp6bf6-cvt-scale-insts,-f32-to-f16bf16-cvt-sr-insts,-flat-buffer-global-fadd-f64-inst,-flat-for-global,-enable-flat-scratch,-flat-segment-offset-bug,-fmacf64-inst,-fmaf,-fp4-cvt-scale-insts,-fp6bf6-cvt-scale-insts,-fp8-conversion-insts,-fp8-cvt-scale-insts,-fp8-insts,-fp8e5m3-insts,-full-rate-64-ops,-gcn3-encoding,-get-wave-id-inst,-gfx10,-gfx12,-gfx1250-insts,-gfx12-insts,-gfx7-gfx8-gfx9-insts,-gfx9,-gfx90a-insts,-gfx940-insts,-gfx950-insts,-half-rate-64-ops,-ieee-minimum-maximum-insts,-image-gather4-d16-bug,-image-store-d16-bug,-inst-fwd-prefetch-bug,-kernarg-preload,-lds-barrier-arrive-atomic,-lds-branch-vmem-war-hazard,-lds-misaligned-bug,-ldsbankcount16,-load-store-opt,-lshl-add-u64-inst,-mad-mac-f32-insts,-mad-mix-insts,-mai-insts,-max-hard-clause-length-63,-max-private-element-size-16,-max-private-element-size-4,-max-private-element-size-8,-mfma-inline-literal-bug,-minimum3-maximum3-f16,-minimum3-maximum3-f32,-minimum3-maximum3-pkf16,-negative-scratch-offset-bug,-negative-unaligned-scratch-offset-bug,-nsa-clause-bug,-nsa-to-vmem-bug,-offset-3f-bug,-packed-fp32-ops,-permlane16-swap,-permlane32-swap,-point-sample-accel,-precise-memory,-prng-inst,-promote-alloca,-enable-prt-strict-null,-pseudo-scalar-trans,-r128-a16,-relaxed-buffer-oob-mode,-required-export-priority,-requires-cov6,-restricted-soffset,-s-memrealtime,-s-memtime-inst,-safe-smem-prefetch,-salu-float,-scalar-atomics,-scalar-dwordx3-loads,-scalar-flat-scratch-insts,-scalar-stores,-sdwa,-sdwa-mav,-sdwa-omod,-sdwa-out-mods-vopc,-sdwa-scalar,-sdwa-sdst,-sea-islands,-setprio-inc-wg-inst,-sgpr-init-bug,-shader-cycles-hi-lo-registers,-si-scheduler,-smem-to-vector-write-hazard,-southern-islands,-sramecc-support,-tgsplit,-transpose-load-f4f6-insts,-trap-handler,-trig-reduced-range,-unaligned-access-mode,-unpacked-d16-vmem,-unsafe-ds-offset-folding,-vcmpx-exec-war-hazard,-vgpr-index-mode,-vmem-to-lds-load-insts,-vmem-to-scalar-write-hazard,-volcanic-islands,-wait-xcnt,-wavefrontsize16,-wavefrontsize32,-wavefrontsize64,-xf32-insts,-xnack-support" "uniform-work-group-size"="false" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!llvm.module.flags = !{}

!0 = !{}

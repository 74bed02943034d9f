source_filename = "<string>"
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

module asm "; } @scale = alias"

%0 = type { i32, %1 }
%1 = type { float }

$group = comdat any

@0 = private unnamed_addr addrspace(4) constant [3 x i8] c"ab\00", comdat($group)

@useful = alias void (), ptr @helper

@resolved = ifunc void (), ptr @resolver

; Function Attrs: nounwind
define protected amdgpu_kernel void @scale(ptr addrspace(1) noalias "a"="comdat @impl" %0, ptr addrspace(4) byref(%0) align 4 %1) unnamed_addr #0 section "some \22section\22" align 256 prefix i32 7 !callees !1 !reqd_work_group_size !2 {
  %3 = load i32, ptr addrspace(4) %1, align 4
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %6

5:                                                ; preds = %2
  store ptr blockaddress(@scale, %6), ptr addrspace(1) %0, align 8
  br label %6

6:                                                ; preds = %5, %2
  ret void
}

define weak hidden void @helper() comdat($group) {
  ret void
}

define internal ptr @resolver() {
  ret ptr @helper
}

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="256,256" "note"="@impl {" }

!named = !{!0}

!0 = !{ptr @scale, ptr @scale, !"@impl"}
!1 = !{ptr @helper}
!2 = !{i32 256, i32 1, i32 1}

; Comdats, section, alignment, attributes, metadata attachments, unnamed types and values, addresses of labels, module assembly.
target triple = "amdgcn--amdhsa5.0.0"

%0 = type { i32, %1 }
%1 = type { float }

$group = comdat any
$"other group" = comdat largest

module asm "; } @scale = alias"

@0 = private unnamed_addr addrspace(4) constant [3 x i8] c"ab\00", comdat($group)
@scale = alias void (ptr addrspace(1), %0), ptr @impl
@scale.2 = alias void (ptr addrspace(1), %0), ptr @impl
@plain = protected alias void (ptr addrspace(1), %0), ptr @1
@useful = alias void (), ptr @helper
@resolved = ifunc void (), ptr @resolver

define internal amdgpu_kernel void @impl(ptr addrspace(1) noalias "a"="comdat @impl" %0, ptr addrspace(4) byref(%0) align 4 %1) unnamed_addr #0 section "some \22section\22" comdat($"other group") align 256 prefix i32 7 !reqd_work_group_size !1 !callees !2 {
  %3 = load i32, ptr addrspace(4) %1, align 4
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %6

5:
  store ptr blockaddress(@impl, %6), ptr addrspace(1) %0
  br label %6

6:
  ret void
}

define amdgpu_kernel void @1(ptr addrspace(1) %0) comdat($group) {
  call void @useful()
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
!0 = !{ptr @impl, ptr @scale, !"@impl"}
!1 = !{i32 256, i32 1, i32 1}
!2 = !{ptr @helper}

source_filename = "<string>"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@counter = addrspace(1) global i32 0
@llvm.used = appending global [2 x ptr] [ptr @third, ptr @first], section "llvm.metadata"
@cast_user = global ptr addrspace(1) addrspacecast (ptr @cast to ptr addrspace(1))
@counter.other = global i32 0

@count = alias i32, ptr addrspace(1) @counter
@count_again = hidden alias i32, ptr addrspace(1) @count
@second_half = alias i16, getelementptr (i8, ptr addrspace(1) @counter, i64 2)
@function_again = alias i32 (i32), ptr @function

define internal i32 @function(i32 %x) {
  ret i32 %x
}

define ptx_kernel void @open(ptr %out) {
  %value = call i32 @function_again(i32 5)
  store i32 %value, ptr %out, align 4
  ret void
}

define ptx_kernel void @open_again(ptr %out) {
  %value = call i32 @function_again(i32 5)
  store i32 %value, ptr %out, align 4
  ret void
}

define ptx_kernel void @cast(ptr %out) {
  %value = call i32 @function_again(i32 5)
  store i32 %value, ptr %out, align 4
  ret void
}

define ptx_kernel void @first(ptr %out) #0 {
  %value = load i32, ptr addrspace(1) @count_again, align 4
  store i32 %value, ptr %out, align 4
  store ptr @first, ptr %out, align 8
  ret void
}

define ptx_kernel void @second(ptr %out) #0 {
  %value = load i32, ptr addrspace(1) @count_again, align 4
  store i32 %value, ptr %out, align 4
  store ptr @first, ptr %out, align 8
  ret void
}

define ptx_kernel void @third(ptr %out) #0 {
  %value = load i32, ptr addrspace(1) @count_again, align 4
  store i32 %value, ptr %out, align 4
  store ptr @first, ptr %out, align 8
  ret void
}

attributes #0 = { "nvvm.maxntid"="256" }

!nvvm.annotations = !{!0, !1, !2, !3}

!0 = !{ptr @first, !"rdoimage", i32 0}
!1 = !{ptr @counter.other, !"texture", i32 1}
!2 = !{ptr @second, !"rdoimage", i32 0}
!3 = !{ptr @third, !"rdoimage", i32 0}

; Aliases of aliases, of a public kernel, of functions and globals; with linkage, visibility and casts of all kinds.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-unknown-cuda"

@counter = addrspace(1) global i32 0
@count = alias i32, ptr addrspace(1) @counter
@count_again = hidden alias i32, ptr addrspace(1) @count
@second_half = alias i16, getelementptr (i8, ptr addrspace(1) @counter, i64 2)
@llvm.used = appending global [2 x ptr] [ptr @third, ptr @"local"], section "llvm.metadata"

@first = alias void (ptr), ptr @impl
@second = weak_odr hidden unnamed_addr alias void (ptr), ptr @first
@third = dso_local alias void (ptr), ptr @second
@local = internal alias void (ptr), ptr @third
@open_again = alias void (ptr), ptr @open
@cast = alias void (ptr), addrspacecast (ptr @open to ptr addrspace(1))
@cast_user = global ptr addrspace(1) @cast
@function_again = alias i32 (i32), ptr @function

define internal i32 @function(i32 %x) {
  ret i32 %x
}

define linkonce_odr hidden ptx_kernel void @open(ptr %out) {
  %value = call i32 @function_again(i32 5)
  store i32 %value, ptr %out
  ret void
}

define private ptx_kernel void @impl(ptr %out) {
  %value = load i32, ptr addrspace(1) @count_again
  store i32 %value, ptr %out
  store ptr @local, ptr %out
  ret void
}

!nvvm.annotations = !{!0, !1, !2}
!0 = !{ptr @impl, !"rdoimage", i32 0}
!1 = !{ptr @counter.other, !"texture", i32 1}
!2 = !{ptr @impl, !"maxntidx", i32 256}
@counter.other = global i32 0

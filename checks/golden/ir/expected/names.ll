source_filename = "a \22name\22.c"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@text = private constant [11 x i8] c"@k @k.a \22@k"
@table = global [3 x ptr] [ptr @k_a_fd64bd19, ptr @k, ptr @q_uote_158ef06c]


define ptx_kernel void @k(ptr %out) {
  store i32 1, ptr %out, align 4
  ret void
}

define ptx_kernel void @k_a_fd64bd19(ptr %out) {
  store i32 1, ptr %out, align 4
  ret void
}

define ptx_kernel void @k_a_735261b4(ptr %out) {
"a label with @k":
  store i32 2, ptr %out, align 4
  ret void
}

define ptx_kernel void @WARP_SZ_bc48c40a(ptr %out) {
"a label with @k":
  store i32 2, ptr %out, align 4
  ret void
}

define ptx_kernel void @__d2e2adf7(ptr %out) {
"a label with @k":
  store i32 2, ptr %out, align 4
  ret void
}

define ptx_kernel void @_7_7902699b(ptr %out) {
"a label with @k":
  store i32 2, ptr %out, align 4
  ret void
}

define ptx_kernel void @q_uote_158ef06c(ptr "string"="@k" %"@k") {
  store i32 3, ptr %"@k", align 4
  ret void
}

define ptx_kernel void @_t__bd010c64(ptr "string"="@k" %"@k") {
  store i32 3, ptr %"@k", align 4
  ret void
}

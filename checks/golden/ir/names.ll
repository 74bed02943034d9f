; Names that are quoted, escaped, prefixes of one another, or forbidden by assemblers.
source_filename = "a \22name\22.c"
target triple = "nvptx64-nvidia-cuda"

@text = private constant [11 x i8] c"@k @k.a \22@k"
@table = global [3 x ptr] [ptr @"k a", ptr @k, ptr @"q\22uote"]
@k = alias void (ptr), ptr @k.impl
@k.a = alias void (ptr), ptr @k.impl.2
@"k a" = alias void (ptr), ptr @k.impl
@"q\22uote" = alias void (ptr), ptr @"odd \22 { } ; @k name"
@"\C3\A9t\C3\A9" = alias void (ptr), ptr @"odd \22 { } ; @k name"
@WARP_SZ = alias void (ptr), ptr @k.impl.2
@_ = alias void (ptr), ptr @k.impl.2
@"7" = alias void (ptr), ptr @k.impl.2

define internal ptx_kernel void @k.impl(ptr %out) {
  store i32 1, ptr %out ; a comment with @k and "an open quote
  ret void
}

define internal ptx_kernel void @k.impl.2(ptr %out) {
"a label with @k":
  store i32 2, ptr %out
  ret void
}

define private ptx_kernel void @"odd \22 { } ; @k name"(ptr "string"="@k" %"@k") {
  store i32 3, ptr %"@k"
  ret void
}

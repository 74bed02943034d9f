; Lines that end with CR LF, as Windows writes them.
target triple = "nvptx64-nvidia-cuda11.0.1-unknown"

@public = alias void (), ptr @impl

define private ptx_kernel void @impl() {
  ret void
}

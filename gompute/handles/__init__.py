"""What a program holds to run kernels: kernel sets and the handles `Kernel`, `AutoKernel` and `RawKernel`."""

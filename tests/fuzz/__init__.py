"""Random kernels, run as CPU code, as PTX, and by the interpreter of their source: all must give the same bits."""

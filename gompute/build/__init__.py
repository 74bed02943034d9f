"""Building kernel sets: roots and targets in, a directory of verified blobs out.

A build runs in two processes and their children. The calling process plans, puts texts together and writes; it loads no code generator. The
*zygote* (`spawn` starts it, `zygote` talks to it, `serve` is what it runs) has the compiler loaded and compiles nothing itself: it forks a
child for each step of a root for a target, that is for its import, for the code of each kernel and for linking (`worker`), so that neither
an abort inside LLVM nor the order of the work can reach another. `making` is one root for one target on its way, `engine` hands the steps
out and gathers the answers, `kernel_set` puts a whole build together.
"""

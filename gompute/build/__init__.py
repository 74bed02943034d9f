"""Building kernel sets: roots and targets in, a directory of verified blobs out.

A build runs in two processes and their children. The calling process plans and writes; it loads no compiler. The *zygote* (`spawn`
starts it, `zygote` talks to it, `serve` is what it runs) has the compiler loaded and compiles nothing itself: for every unit, that is
one root for one target, it forks a child which compiles that unit and no other (`worker`), so that neither an abort inside LLVM nor the
order of the work can reach another unit. `engine` hands the units out and gathers the answers, `kernel_set` puts a whole build together.
"""

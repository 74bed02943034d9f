# The example set: every root for every target compiles.
{ kernels, ... }: kernels

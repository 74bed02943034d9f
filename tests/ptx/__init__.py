"""An interpreter of PTX for tests: strict, and exact where PTX is.

It runs the text that LLVM writes, all threads of a launch at once. What it does not know it refuses: an instruction, a modifier, a state
space, a directive. Semantics are those of NVIDIA's PTX ISA document.
"""

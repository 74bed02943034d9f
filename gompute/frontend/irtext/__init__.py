"""Writing LLVM IR as text: modules and functions under construction, and how scalar values are spelled.

Text is appended, never edited: a straight-line function of 50,000 operations takes a fraction of a second, where building the same
function as objects takes seconds.
"""

"""The kernel language a second time: an interpreter of its source, made from its documented rules and NumPy alone.

It shares no code with the compiler, so that a mistake in one of them shows as a difference.
"""

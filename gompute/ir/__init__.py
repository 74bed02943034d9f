"""Modules of LLVM IR between the frontend and a backend: what may stand in one, and what it holds."""

"""A worker in an installation without the compiler's packages."""

raise ModuleNotFoundError("No module named 'ziglang'", name="ziglang.zig")

"""Python's syntax tree to the typed tree: names resolved, types inferred, conversions written out, faults gathered."""

"""The targets that Gompute compiles for.

A table of our own, since LLVM accepts any processor name and writes code for one that does not exist. Nothing here reads the machine.
What a device can run of it is in `gompute.targets.compat` and `gompute.targets.device`, which a compiler has no use for.
"""

from __future__ import annotations

from gompute.targets.mode import FAST, OPTIMIZE, Mode, Optimize
from gompute.targets.names import all_targets, find_target, parse_target
from gompute.targets.target import KINDS, Backend, BlobKind, Target

__all__ = ["FAST", "KINDS", "OPTIMIZE", "Backend", "BlobKind", "Mode", "Optimize", "Target", "all_targets", "find_target", "parse_target"]

"""The modules of ``checks/math``, which are no package."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "checks" / "math"

if str(FOLDER) not in sys.path:
    sys.path.append(str(FOLDER))

import f64_inputs as inputs  # noqa: E402
import f64_reference as reference  # noqa: E402
import generate_f64 as generate  # noqa: E402
import measure_f64 as measure  # noqa: E402

__all__ = ["FOLDER", "generate", "inputs", "measure", "reference"]

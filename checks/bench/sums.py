"""The kernel of run_sum.py."""

import gompute as g
from gompute import f32

total = g.sum("total", f32)

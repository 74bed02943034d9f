"""Runs both kernels on the best backend of this machine: nix develop -c python main.py"""

import sys
from pathlib import Path

import numpy as np

import gompute as g

sys.path.insert(0, str(Path(__file__).parent / "kernels"))
from counting import next_number
from waves import Wave, triangle

wave = np.linspace(-2, 2, 5, dtype=np.float32)
with g.AutoKernel(triangle) as kernel:
    kernel.run(wave, Wave(height=3.0))
    print(kernel.backend, wave)

numbers = np.arange(3, dtype=np.uint32)
with g.AutoKernel(next_number) as kernel:
    kernel.run(numbers)
    print(kernel.backend, numbers)

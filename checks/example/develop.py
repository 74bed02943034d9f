"""A program around the kernels of `photo`: it brightens an image and softens it, on the best backend that there is.

What it launches is in manifest.json beside it, which `gompute manifest scan checks/example/develop.py -o checks/example/manifest.json`
writes: a build compiles that and no more.
"""

import numpy as np
from photo import Tone, soften, tone

import gompute as g


def develop(image, kernels=None, backend="cpu"):
    """The developed image.

    Args:
        image: float32 of shape (height, width, channels), values in 0 to 1.
        kernels: a kernel set, its folder or its module; without it the default set.
        backend: where to soften it.
    """
    height, width, channels = image.shape
    bright = np.ascontiguousarray(image, np.float32)
    with g.AutoKernel(tone, kernels) as kernel:
        kernel.run(bright, Tone(exposure=0.1, contrast=1.2))
    with g.RawKernel(soften, backend, kernels=kernels) as kernel:
        out, data = kernel.alloc(bright.nbytes), kernel.alloc(bright.nbytes)
        data.upload(bright)
        kernel.launch((-(-width // 16), -(-height // 16)), (16, 16), data, out, width, height, channels)
        kernel.synchronize()
        soft = np.empty_like(bright)
        out.download(soft)
    return soft

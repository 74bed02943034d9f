"""CuPy, PyTorch, JAX and NumPy in one shape, for the checks of what goes between them and us."""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

__all__ = ["LIBRARIES", "CuPy", "Jax", "Library", "NumPy", "Torch"]


class Library:
    """What the checks ask of a library; this one has arrays in host memory and no streams.

    Attributes:
        backends: of ours, whose memory its arrays may lie in.
        writes: whether its arrays can be written to.
        streams: whether it has streams.
        interface: whether its arrays on CUDA have ``__cuda_array_interface__``.
    """

    name = "numpy"
    backends = frozenset({"cpu"})
    writes = True
    streams = False
    interface = False

    def __init__(self, backend: str) -> None:
        """
        Raises:
            ImportError: it is not installed.
        """
        self.backend = backend
        self.module: Any = importlib.import_module(self.name)

    @property
    def version(self) -> str:
        return str(self.module.__version__)

    def missing(self) -> str | None:
        """Why its arrays cannot lie in the backend's memory here."""
        return None if self.backend in self.backends else f"{self.name} has no arrays on {self.backend}"

    # ---- arrays ----

    def array(self, values: np.ndarray) -> Any:
        """An array with these values in memory of its own on the device."""
        return values.copy()

    def numpy(self, array: Any) -> np.ndarray:
        """A copy on the host of what the array holds once its library's work is done."""
        return np.array(array)

    def take(self, array: Any) -> Any:
        """Its array on the memory of another's, by DLPack."""
        return self.module.from_dlpack(array)

    def take_interface(self, array: Any) -> Any:
        """The same by ``__cuda_array_interface__``."""
        raise NotImplementedError

    def transposed(self, array: Any) -> Any:
        return array.T

    def read_only(self, array: Any) -> Any | None:
        """The same array, not to be written to; None where the library has no such thing."""
        made = array.view()
        made.setflags(write=False)
        return made

    def add(self, array: Any, times: int) -> None:
        """Adds 1 to every element so many times, on the library's current stream; does not wait."""
        for _ in range(times):
            array += 1

    # ---- streams ----

    def stream(self) -> Any:
        """A new stream."""
        raise NotImplementedError

    def stream_of(self, pointer: int) -> Any:
        """Its stream around the driver's."""
        raise NotImplementedError

    def on(self, stream: Any) -> AbstractContextManager[object]:
        """Makes the stream the current one."""
        return nullcontext()

    def wait(self, stream: Any) -> None:
        stream.synchronize()


class NumPy(Library):
    """NumPy itself."""


class CuPy(Library):
    name = "cupy"
    backends = frozenset({"cuda", "hip"})
    streams = interface = True

    def missing(self) -> str | None:
        ours = "hip" if self.module.cuda.runtime.is_hip else "cuda"
        return None if self.backend == ours else f"this build of CuPy is for {ours}"

    def array(self, values: np.ndarray) -> Any:
        return self.module.array(values)

    def numpy(self, array: Any) -> np.ndarray:
        return np.array(self.module.asnumpy(array))

    def take_interface(self, array: Any) -> Any:
        return self.module.asarray(array)

    def read_only(self, array: Any) -> None:
        return None

    def stream(self) -> Any:
        return self.module.cuda.Stream(non_blocking=True)

    def stream_of(self, pointer: int) -> Any:
        return self.module.cuda.ExternalStream(pointer)

    def on(self, stream: Any) -> AbstractContextManager[object]:
        return nullcontext() if stream is None else stream


class Torch(Library):
    name = "torch"
    backends = frozenset({"cpu", "cuda", "hip"})

    def __init__(self, backend: str) -> None:
        super().__init__(backend)
        self.device = "cpu" if backend == "cpu" else "cuda"
        self.streams = backend != "cpu"
        self.interface = backend == "cuda"

    def missing(self) -> str | None:
        if self.backend == "cpu":
            return None
        ours = "hip" if self.module.version.hip else "cuda"
        if self.backend != ours or not self.module.cuda.is_available():
            return f"this build of PyTorch has no device on {self.backend}"
        return None

    def array(self, values: np.ndarray) -> Any:
        return self.module.tensor(values, device=self.device)

    def numpy(self, array: Any) -> np.ndarray:
        return np.array(array.detach().cpu().numpy())

    def take_interface(self, array: Any) -> Any:
        return self.module.as_tensor(array, device=self.device)

    def read_only(self, array: Any) -> None:
        return None

    def stream(self) -> Any:
        return self.module.cuda.Stream()

    def stream_of(self, pointer: int) -> Any:
        return self.module.cuda.ExternalStream(pointer)

    def on(self, stream: Any) -> AbstractContextManager[object]:
        return nullcontext() if stream is None else self.module.cuda.stream(stream)


class Jax(Library):
    name = "jax"
    backends = frozenset({"cpu", "cuda", "hip"})
    writes = False

    def missing(self) -> str | None:
        platform = {"cpu": "cpu", "cuda": "cuda", "hip": "rocm"}[self.backend]
        try:
            self.device = self.module.devices(platform)[0]
        except RuntimeError as error:
            return f"JAX has no device on {platform}: {error}"
        return None

    def array(self, values: np.ndarray) -> Any:
        # A copy: of an array in host memory that is aligned, JAX takes the memory itself.
        return self.module.block_until_ready(self.module.device_put(self.module.numpy.array(values), self.device))

    def take(self, array: Any) -> Any:
        return self.module.numpy.from_dlpack(array)

    def transposed(self, array: Any) -> None:
        return None  # JAX lays a transposed array out anew

    def read_only(self, array: Any) -> Any:
        return array  # all of them are


#: Beside NumPy, whose arrays lie on the host alone.
LIBRARIES: tuple[type[Library], ...] = (NumPy, CuPy, Torch, Jax)

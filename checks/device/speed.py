"""How fast a device is driven: what a launch costs the host, and how fast memory is moved, beside what is installed of others."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from libraries import CuPy, Library, Torch
from measure import interleaved
from sections import Found, Say

import gompute as g
from gompute.handles.packing import Frame, Packing
from gompute.runtime import dynamic
from tests.conformance.loading import spec

__all__ = ["bandwidth", "latency"]

_N = 256


def _peers(backend: str) -> list[Library]:
    found = []
    for library in (CuPy, Torch):
        try:
            peer = library(backend)
        except ImportError:
            continue
        if peer.missing() is None:
            found.append(peer)
    return found


def _bare(raw: g.RawKernel, values: tuple[int, ...]) -> Callable[[], object]:
    """A launch through the vendor's binding, with everything prepared."""
    opened = raw._opened
    kernel: Any = opened.kernel
    name, call, extra = {
        "cuda": ("cuda.bindings.driver", "cuLaunchKernel", 0),
        "hip": ("rocm.bindings.hip", "hipModuleLaunchKernel", None),
    }[raw.backend]
    launch, function, stream = getattr(importlib.import_module(name), call), kernel._function, kernel._accelerator.default.handle
    packing = Packing(opened.entry.arguments, opened.record)
    frame = Frame(packing)
    packing.pack(frame.storage, 0, *values)
    return lambda: (launch(function, 1, 1, 1, _N, 1, 1, 0, stream, frame.address, extra), frame)


def latency(backend: str, kernels: g.KernelSet, say: Say, rounds: int) -> Found:
    """Microseconds of the host per launch of one small block, or per pass of a peer over as many elements."""
    with (
        dynamic.Compute(backend) as compute,
        g.RawKernel("bits", backend, kernels=kernels) as raw,
        compute.create_stream(non_blocking=True) as stream,
        compute.alloc(4 * _N) as data,
        compute.alloc(4 * _N) as out,
    ):
        data.fill(0)
        raw.launch(1, _N, data, out, _N)
        compute.synchronize()
        stream.begin_capture()
        raw.launch(1, _N, data, out, _N, stream=stream)
        with stream.end_capture().instantiate() as graph:
            contenders: dict[str, Callable[[], object]] = {
                "launch": lambda: raw.launch(1, _N, data, out, _N),
                "launch and wait": lambda: (raw.launch(1, _N, data, out, _N), compute.synchronize()),
                "graph and wait": lambda: (graph.launch(stream), stream.synchronize()),
            }
            if backend != "cpu":
                contenders["the binding's launch, prepared"] = _bare(raw, (data.device_addr, out.device_addr, _N))
            for peer in _peers(backend):
                array = peer.array(np.zeros(_N, np.float32))
                contenders[f"{peer.name}, += 1"] = lambda peer=peer, array=array: peer.add(array, 1)
            say(", ".join(contenders))
            seconds = interleaved(contenders, rounds)
            compute.synchronize()
    return {f"{name} [us]": round(1e6 * float(np.median(times)), 2) for name, times in seconds.items()}


def bandwidth(backend: str, kernels: g.KernelSet, say: Say, megabytes: int, rounds: int) -> Found:
    """GB/s on the device's own clock: of copies by the bytes copied, of a kernel by the bytes read and written."""
    size, found = megabytes << 20, {}
    with (
        dynamic.Compute(backend) as compute,
        g.Kernel(spec("halve"), backend, kernels=kernels) as halve,
        compute.alloc(size) as one,
        compute.alloc(size) as other,
        compute.alloc_pinned(size) as pinned,
        compute.create_stream(non_blocking=True) as stream,
    ):
        host, pageable = pinned.array(), np.zeros(size, np.uint8)
        host[:] = 0
        one.fill(0)
        compute.synchronize()
        work: dict[str, tuple[int, Callable[[], object]]] = {
            "pinned to device": (size, lambda: one.upload_async(host, stream)),
            "device to pinned": (size, lambda: one.download_async(host, stream)),
            "pageable to device": (size, lambda: one.upload_async(pageable, stream)),
            "device to device": (size, lambda: other.copy_from(one, stream=stream)),
            "fill": (size, lambda: one.fill(0, stream=stream)),
            "kernel in place": (2 * size, lambda: halve.launch(one, stream=stream)),
        }
        for name, (moved, call) in work.items():
            say(name)
            times = []
            for _ in range(rounds):
                with compute.create_event() as start, compute.create_event() as end:
                    start.record(stream)
                    call()
                    end.record(stream)
                    end.synchronize()
                    times.append(start.elapsed_us(end))
            found[f"{name} [GB/s]"] = _rate(moved, float(np.median(times)))
    for peer in _peers(backend):
        say(peer.name)
        found |= _peer(peer, size, rounds)
    return found


def _peer(peer: Library, size: int, rounds: int) -> dict[str, float]:
    """The same kernel and copy by another library, on its events."""
    array, cuda = peer.array(np.zeros(size // 4, np.float32)), peer.module.cuda
    timed = {} if peer.name == "cupy" else {"enable_timing": True}
    work: dict[str, tuple[int, Callable[[], object]]] = {"kernel in place": (2 * size, lambda: peer.add(array, 1))}
    if peer.name == "torch":
        host = peer.module.zeros(size // 4, dtype=peer.module.float32).pin_memory()
        work["pinned to device"] = (size, lambda: array.copy_(host, non_blocking=True))
    found = {}
    for name, (moved, call) in work.items():
        times = []
        for _ in range(rounds):
            start, end = cuda.Event(**timed), cuda.Event(**timed)
            start.record()
            call()
            end.record()
            end.synchronize()
            times.append(1000 * (cuda.get_elapsed_time(start, end) if peer.name == "cupy" else start.elapsed_time(end)))
        found[f"{peer.name}, {name} [GB/s]"] = _rate(moved, float(np.median(times)))
    return found


def _rate(moved: int, microseconds: float) -> float:
    return round(moved / 1000 / max(1e-3, microseconds), 2)

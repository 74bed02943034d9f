"""Classes that say themselves how they cross to a device."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

import gompute as g
from gompute.lang.params import ParamsRejected


class Celsius:
    """Crosses as one number, in kelvin."""

    gpu_layout = g.f32

    def __init__(self, degrees: float) -> None:
        self.degrees = degrees

    def to_gpu(self) -> float:
        return self.degrees + 273.0

    @classmethod
    def from_gpu(cls, value: float) -> Celsius:
        return cls(value - 273.0)


@g.params
class CameraData:
    eye: g.vec[g.f32, 3]  # type: ignore[type-arg]
    zoom: g.f32


class Camera:
    """Crosses as a struct; mutable on the host."""

    gpu_layout = CameraData

    def __init__(self, zoom: float) -> None:
        self.zoom = zoom

    def to_gpu(self) -> CameraData:
        return CameraData((1, 2, 3), self.zoom)

    @classmethod
    def from_gpu(cls, value: CameraData) -> Camera:
        return cls(value.zoom)


class Name:
    """Crosses as bytes."""

    gpu_layout = g.fixed[g.u8, 4]

    def __init__(self, text: str) -> None:
        self.text = text

    def to_gpu(self) -> bytes:
        return self.text.encode().ljust(4, b"\0")

    @classmethod
    def from_gpu(cls, value: tuple[int, ...]) -> Name:
        return cls(bytes(value).rstrip(b"\0").decode())


@g.params
class Scene:
    outside: Celsius
    camera: Camera
    name: Name
    count: g.i16


@g.map
def expose(x: g.f32, c: Camera) -> g.f32:
    return x * c.zoom + c.eye[1]  # type: ignore[attr-defined, no-any-return]


@g.map
def warm(x: g.f32, s: Scene) -> g.f32:
    return x + s.outside + s.camera.zoom + s.name[1] + s.count  # type: ignore[operator, index, no-any-return]


def scene() -> Scene:
    return Scene(Celsius(27), Camera(0.5), Name("ab"), 4)


def test_a_struct_holds_what_its_classes_cross_as() -> None:
    assert g.abi.pack(scene()) == struct.pack("<f12x3f4xf12x2s2xh10x", 300.0, 1, 2, 3, 0.5, b"ab", 4)
    back = g.abi.unpack(g.abi.pack(scene()), Scene)
    assert (back.outside.degrees, back.camera.zoom, back.name.text, back.count) == (27.0, 0.5, "ab", 4)


def test_each_class_crosses_alone_too() -> None:
    assert g.abi.pack(Celsius(0)) == struct.pack("<f", 273.0)
    assert g.abi.pack(Name("xyz")) == b"xyz\0"
    assert g.abi.pack(Camera(2.0), Camera) == struct.pack("<3f4xf12x", 1, 2, 3, 2.0)
    assert g.abi.unpack(b"xyz\0", Name).text == "xyz"
    assert g.abi.unpack(struct.pack("<f", 300.0), Celsius).degrees == 27.0
    assert g.abi.unpack(g.abi.pack(Camera(2.0)), Camera).zoom == 2.0


def test_a_kernel_takes_it_and_sees_its_layout() -> None:
    camera = Camera(2.0)
    assert expose(3.0, camera) == 8.0
    assert warm(1.0, scene()) == 1 + 300 + 0.5 + ord("b") + 4
    with g.Kernel(expose, "cpu") as kernel:
        for zoom in (2.0, 3.0):
            camera.zoom = zoom  # the same instance with other bytes
            data = np.array([1.0, 2.0], np.float32)
            kernel.run(data, camera)
            np.testing.assert_array_equal(data, np.float32([1, 2]) * np.float32(zoom) + 2)
    inside = scene()
    with g.Kernel(warm, "cpu") as kernel:
        for zoom in (2.0, 3.0):
            inside.camera.zoom = zoom
            data = np.zeros(2, np.float32)
            kernel.run(data, inside)
            assert data[0] == 300 + zoom + ord("b") + 4


def test_the_layout_in_words_and_its_guard() -> None:
    text = "Scene{outside: f32 @0; camera.eye: f32[3] @16; camera.zoom: f32 @32; name: u8[4] @48; count: i16 @52; size 64, align 16}"
    assert str(g.abi.boundary(Scene)) == text
    assert not g.abi.boundary(Scene).custom
    assert str(g.abi.boundary(Celsius)) == "Celsius{f32 @0; size 4, align 4}"
    assert g.abi.boundary(Camera).custom
    g.abi.assert_stable(Scene, text)
    g.abi.assert_stable(Scene, g.abi.boundary(Scene))
    g.abi.assert_stable(Camera)
    with pytest.raises(g.CompileError) as caught:
        g.abi.assert_stable(Celsius, "Celsius{f64 @0; size 8, align 8}")
    assert str(caught.value) == (
        "the layout of Celsius has changed: expected Celsius{f64 @0; size 8, align 8}, found Celsius{f32 @0; size 4, align 4}; "
        "artifacts have to be built again"
    )
    with pytest.raises(g.InvalidArgument, match="is no params class; decorate it with @params"):
        g.abi.boundary(dict)


@pytest.mark.parametrize(
    ("members", "reason", "fix"),
    [
        (
            {"gpu_layout": g.f32, "to_gpu": lambda self: 1.0},
            "Half declares gpu_layout and to_gpu and lacks from_gpu",
            "a custom boundary is gpu_layout, to_gpu and from_gpu",
        ),
        (
            {"from_gpu": int},
            "Half declares from_gpu and lacks gpu_layout and to_gpu",
            "a custom boundary is gpu_layout, to_gpu and from_gpu",
        ),
        (
            {"gpu_layout": str, "to_gpu": str, "from_gpu": str},
            "the gpu_layout of Half is str, which has no layout",
            "write a scalar type, fixed[f32, N], vec[f32, N] or a @g.params class",
        ),
        (
            {"gpu_layout": Celsius, "to_gpu": str, "from_gpu": str},
            "the gpu_layout of Half is Celsius, which has no layout",
            "write a scalar type, fixed[f32, N], vec[f32, N] or a @g.params class",
        ),
    ],
)
def test_an_unfinished_boundary_is_refused_by_its_field(members: dict[str, Any], reason: str, fix: str) -> None:
    half = type("Half", (), members)
    outer = g.params(type("Top", (), {"__annotations__": {"x": g.f32, "half": half}}))
    with pytest.raises(ParamsRejected) as caught:
        g.abi.assert_stable(outer)
    (fault,) = caught.value.faults
    assert (fault.path, fault.reason, fault.fix) == ("Top.half", reason, fix)


def test_a_value_of_another_class_is_refused_by_its_field() -> None:
    with pytest.raises(g.InvalidArgument) as caught:
        g.abi.pack(Scene(20.0, Camera(1.0), Name("a"), 1))  # type: ignore[arg-type]
    assert str(caught.value) == "Scene.outside: expected an instance of Celsius, not float"
    with pytest.raises(g.InvalidArgument) as caught:
        g.abi.pack(Scene(Celsius(1), Camera(1.0), Name("abcdef"), 1))
    assert str(caught.value) == "Scene.name: expected 4 values, got 6"
    with pytest.raises(g.InvalidArgument) as caught:
        g.abi.pack(Celsius(1), Camera)
    assert str(caught.value) == "expected an instance of Camera, not Celsius"

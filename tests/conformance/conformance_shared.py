"""Device functions in a module of their own, which the conformance root imports."""

from gompute import f32, i16, i32


def clamp(x: f32, low: f32 = 0.0, high: f32 = 1.0) -> f32:
    return min(max(x, low), high)


def twice(x: i32) -> i32:
    return x + x


def thrice(x: i32) -> i32:
    return twice(x) + x


def odd(x: i16) -> i16:
    return x & 1


def clip(x: f32) -> f32:
    return clamp(x, high=2.0)

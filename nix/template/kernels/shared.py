"""What several roots use: a root names it among its imports."""

from gompute import f32


def clamp(x: f32, low: f32, high: f32) -> f32:
    return min(max(x, low), high)

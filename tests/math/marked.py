"""Bodies that compute the same, and others that do not, for the test of fingerprints."""

from gompute import f64
from gompute.math.polynomial import polynomial

_one = polynomial((1.0, 2.0, 3.0))
_other = polynomial((1.0, 2.0, 3.5))


def plain(x: f64) -> f64:
    return _one(x) + 1.0


def commented(x: f64) -> f64:
    """The same."""
    # And so on.
    return _one(x) + 1.0


def constant(x: f64) -> f64:
    return _one(x) + 1.5


def coefficient(x: f64) -> f64:
    return _other(x) + 1.0


def order(x: f64) -> f64:
    return 1.0 + _one(x)

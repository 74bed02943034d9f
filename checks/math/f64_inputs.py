"""What the f64 functions are measured on: pseudo-random inputs by number, published hard cases, and the seams of tables."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["BATCH", "PUBLISHED", "SEAMS", "batch", "consecutive"]

BATCH = 1 << 20

#: By function: the binary orders from which half of the inputs are drawn evenly, then the interval of the other half; signed or not.
_ALL = (-1074, 1024)
_RANGES: dict[str, tuple[tuple[int, int], tuple[float, float], bool]] = {
    "exp": ((-60, 10), (-746.0, 710.0), True),
    "exp2": ((-60, 11), (-1076.0, 1024.0), True),
    "expm1": ((-1074, 10), (-45.0, 710.0), True),
    "log": (_ALL, (0.0, 2.0), False),
    "log2": (_ALL, (0.0, 2.0), False),
    "log10": (_ALL, (0.0, 2.0), False),
    "log1p": (_ALL, (-1.0, 1.0), True),
    "sin": (_ALL, (-100.0, 100.0), True),
    "cos": (_ALL, (-100.0, 100.0), True),
    "tan": (_ALL, (-100.0, 100.0), True),
    "asin": ((-60, 0), (-1.0, 1.0), True),
    "acos": ((-60, 0), (-1.0, 1.0), True),
    "atan": ((-1074, 80), (-10.0, 10.0), True),
    "sinh": ((-1074, 10), (-711.0, 711.0), True),
    "cosh": ((-60, 10), (-711.0, 711.0), True),
    "tanh": ((-1074, 6), (-20.0, 20.0), True),
    "erf": ((-1074, 3), (-6.0, 6.0), True),
    "erfc": ((-60, 5), (-6.0, 27.5), True),
    "cbrt": (_ALL, (-8.0, 8.0), True),
    "rsqrt": (_ALL, (1.0, 4.0), False),
}


def _binades(random: np.random.Generator, orders: tuple[int, int], count: int) -> np.ndarray:
    """Positive numbers, every binary order as likely; subnormal numbers too where the orders go that far."""
    fraction = random.integers(0, 1 << 52, count, dtype=np.uint64)
    low, high = max(orders[0], -1023), orders[1]
    biased = random.integers(low + 1023, high + 1023, count).astype(np.uint64)
    return np.maximum((biased << np.uint64(52)) | fraction, np.uint64(1)).view(np.float64)


def batch(name: str, number: int, count: int = BATCH) -> tuple[np.ndarray, ...]:
    """The arguments of one batch of random inputs; the same for the same numbers, on every machine."""
    random = np.random.Generator(np.random.PCG64([number, *name.encode()]))
    if name == "pow":
        return _powers(random, count)
    sign = np.where(random.random(count) < 0.5, -1.0, 1.0)
    if name in _RANGES:
        orders, (low, high), signed = _RANGES[name]
        spread = _binades(random, orders, count) * (sign if signed else 1.0)
        return (np.where(random.random(count) < 0.5, spread, random.uniform(low, high, count)),)
    # Pairs: a quarter unrelated, the rest within 60 binary orders of each other.
    x, y = _binades(random, _ALL, count), _binades(random, _ALL, count)
    with np.errstate(over="ignore"):
        near = np.ldexp(x, random.integers(-60, 61, count).astype(np.int32)) * random.uniform(0.5, 1.0, count)
    y = np.where((random.random(count) < 0.75) & np.isfinite(near), near, y)
    return x * sign, y * np.where(random.random(count) < 0.5, -1.0, 1.0)


def _powers(random: np.random.Generator, count: int) -> tuple[np.ndarray, ...]:
    """Bases of all orders, near 1, and very near 1; exponents that make results of all orders."""
    kind = random.integers(0, 4, count)
    x = _binades(random, _ALL, count)
    x = np.where(kind == 1, np.exp2(random.uniform(-2.0, 2.0, count)), x)
    x = np.where(kind == 2, 1.0 + random.uniform(-1.0, 1.0, count) * np.exp2(-random.uniform(0.0, 52.0, count)), x)
    with np.errstate(all="ignore"):
        y = random.uniform(-746.0, 710.0, count) * np.exp2(-random.integers(0, 2, count) * random.uniform(0.0, 60.0, count)) / np.log(x)
    return x, np.where(np.isfinite(y), y, 1.5)


def _hex(text: str) -> list[tuple[float, ...]]:
    return [tuple(float.fromhex(part) for part in word.split(",")) for word in text.split()]


#: Inputs whose results lie next to a midpoint or are hard to reduce. V. Lefevre and J.-M. Muller, "Worst cases for correct rounding of
#: the elementary functions in double precision" (2001, tables revised 2003), and the searches of the CORE-MATH project (A. Sibidanov, P.
#: Zimmermann and others, worst-case files of its binary64 functions, 2021 to 2025).
PUBLISHED: dict[str, list[tuple[float, ...]]] = {
    "exp": _hex(
        """-0x1.ed318efb627eap-27 -0x1.4000000000032p-46 -0x1.0000000000001p-51 0x1.fffffffffffffp-53 0x1.fffffffffff80p-46
        0x1.1ffffffffffafp-45 0x1.83d4bcdebb3f4p+2 -0x1.fb45de22b5c06p+6 -0x1.fb4e1edd43fe3p-15 -0x1.fc465b97d4e21p+7 -0x1.fcde6d5f38383p-27
        -0x1.fd7473ea3d816p+8 -0x1.ff171507f8ba5p-30 -0x1.ff43ee151a114p+4"""
    ),
    "exp2": _hex(
        """0x1.fd716b44c578fp-21 0x1.fdb3662978bc8p-21 0x1.feb3812711e4cp-21 0x1.ffe167133f42bp-21 0x1.ef2b8dfe4ba39p-21
        -0x1.ff00000000002p+9 -0x1.ff00000000001p+9 -0x1.fefffffffffffp+9 -0x1.feffffffffffep+9"""
    ),
    "expm1": _hex(
        """0x1.c64f70710aa7cp+3 -0x1.802aa84c1d8e2p-42 -0x1.723f3a00a0652p-20 -0x1.000000000000ep-50 -0x1.6a09e667f3b7ap-52
        0x1.77cfddb7c009fp+5 -0x1.001ffe004000bp-42 -0x1.19003a4e59a87p-35 -0x1.b1522801ae7a9p-22 0x1.c48c6001f0ac7p-49
        -0x1.2297360014feap-20"""
    ),
    "log": _hex(
        """0x1.fffffffffff9p-1 0x1.ffffffffff904p-1 0x1.ffffffffff8d9p-1 0x1.ffffffffff88fp-1 0x1.ffffffffff82dp-1 0x1.ffffffffff805p-1
        0x1.000000000008p+0 0x1.0000000000081p+0 0x1.00000000000bfp+0 0x1.00000000000c1p+0 0x1.00000000000fp+0"""
    ),
    "log2": _hex(
        """0x1.fbf618e7f4bcap-1 0x1.fc098fc35379bp-1 0x1.fcde4b8bfa01p-1 0x1.fd43770460e5ep-1 0x1.fe71c1c5fe84fp-1 0x1.feef72f67c668p-1
        0x1.ff6f0e784fca1p-1 0x1.ffdcbdb4d06bfp-1"""
    ),
    "log10": _hex(
        """0x1.bad47ed37797cp+814 0x1.c1822d9a23d94p+814 0x1.cd72ff4afa3e3p+814 0x1.d9900558eb88dp+814 0x1.e1bc6e73d9658p+814
        0x1.e4652f5973c01p+814 0x1.f0dba0c2b7dc2p+814 0x1.f9d7f1bd67aa5p+814"""
    ),
    "log1p": _hex(
        """-0x1.fffffffffff86p-1 -0x1.fffffffffffb6p-1 -0x1.fffffffffffd5p-47 -0x1.fffffffffffebp-48 -0x1.ffffffffffff5p-49
        -0x1.ffffffffffff9p-50 -0x1.ffffffffffffbp-1 -0x1.ffffffffffffdp-50 -0x1.fffffffffffffp-51 -0x1.fffffffffffffp-52"""
    ),
    "pow": _hex(
        """0x1.ffffffffffffcp-1,0x1.fffffffffffffp-2 0x1.ffffffffffffcp-1,-0x1.ffffffffffffdp-2 0x1.ffffffffffffp-1,-0x1.ffffffffffff6p-3
        0x1.ffffffffffff8p-1,-0x1.ffffffffffffbp-3"""
    ),
    "sin": _hex(
        """0x1.e0000000001c2p-20 0x1.598bae9e632f6p-7 0x1.fe767739d0f6dp-2 0x1.921fb54442d18p+0 0x1.6756745770a51p+1 0x1.6ac5b262ca1ffp+849
        0x1.f5180783ab3fap+7 0x1.f61863b66f01cp+7 0x1.f6ed8be041402p+7 0x1.f7e9e8b240178p+7 0x1.f8f0eb06b0b41p+7 0x1.fffffffffffffp+1023"""
    ),
    "cos": _hex(
        """0x1.8000000000009p-23 0x1.8000000000024p-22 0x1.2000000000f30p-18 0x1.06b505550e6b2p-9 0x1.97ccd3d2c438fp-6
        0x1.6b8a6273d7c21p+0 0x1.6ac5b262ca1ffp+849 0x1.5078b2d53c5e9p+10 0x1.57308849e5c03p+10 0x1.57d0642f4a336p+10
        0x1.58a02f46988d6p+10 0x1.3f06778c3c6a1p+104 0x1.fffffffffffffp+1023"""
    ),
    "tan": _hex(
        """0x1.dffffffffff1fp-22 0x1.67fffffffa114p-18 0x1.50486b2f87014p-5 0x1.46ac372243536p-1 0x1.6ac5b262ca1ffp+849 0x1.88bd2b46f62e8p+0
        0x1.8dbe8da44673cp+0 0x1.8e61b27d70292p+0 0x1.8f8a9f415c31fp+0 0x1.900943fdb0659p+0 0x1.91beeb637f56p+0 0x1.fffffffffffffp+1023"""
    ),
    "asin": _hex(
        """0x1.468d1ffa9175bp-4 0x1.468effe28c48fp-4 0x1.468b3fe0f84fap-4 0x1.468a9feab1153p-4 0x1.468c7fe2dea52p-4 0x1.468dfffe4c664p-4
        0x1.468cffce7c3b2p-4"""
    ),
    "acos": _hex(
        """0x1.02cba0005b2cep-1 0x1.0262c0000040ap-1 0x1.0261e00002918p-1 0x1.025d0000327d8p-1 0x1.029a4000058b5p-1 0x1.0fac891dbe72ap-1
        0x1.127b00048acaap-1 0x1.1a9c000000354p-1 0x1.1278e01566893p-1"""
    ),
    "atan": _hex("0x1p+1007 -0x1p+1023 0x1.b880844f10722p+7"),
    "atan2": _hex(
        """0x1.4eb8e1e61c903p-812,-0x1.ceeae05ae5a0cp-758 0x1.fffffffffffffp-810,-0x1p-755 0x1.eba87bdb249afp-804,-0x1.c31d2561e6b3ap-750
        0x1.0000000000001p-799,-0x1.6d72b35be5bf1p-744 -0x1.ae553c5588abcp-793,-0x1.3f84f3081138bp-738
        0x1.fffffffffffffp-790,-0x1.0000000000001p-733 0x1p-1022,0x1p+53 -0x1p-1022,0x1p+53"""
    ),
    "sinh": _hex(
        """0x1.78b7f7218cbbap-8 0x1.73899be627a15p-3 0x1.723081b579317p-8 0x1.743700f213a13p-26 0x1.99b3b3adc7cf1p-26 0x1.9aa39e8c12b6ap-26
        0x1.0265fffffffffp-3 0x1.0000fffffffffp-3 0x1.0042fffffffffp-3"""
    ),
    "cosh": _hex(
        """0x1.27b1b5a531ceap-15 0x1.28beac19b91b5p-15 0x1.29d53ac8326fep-15 0x1.2a60e7a70347fp-15 0x1.2b1366f7d667cp-15
        0x1.2bffffffbb55ep-15 0x1.2de8f6a4bc43fp-15"""
    ),
    "tanh": _hex(
        """0x1.f3669d6d1e555p-22 0x1.fbabfe479179dp-22 0x1.fcd044617954ap-22 0x1.fd51bf206a0f3p-22 0x1.bf3c9ea63952cp-22
        0x1.ff752fb61f8ddp-22 0x1.94503a1406f71p+3 0x1.947b5c7429947p+3"""
    ),
    "erf": _hex("0x1.fa4fd935471a2p-1023 0x1.fa5ec1fabb16ap-1023 0x1.fe8635c6ceb8ap-1023 0x1.fe7ec16414ba6p-1023 0x1.fe91645ae5b6p-1023"),
    "erfc": _hex("0x1.00ec45169e8e7p+62 0x1.00ec043c0bc5cp+62 -0x1.00ec45169e8e7p+62"),
    "cbrt": _hex(
        """0x1.1f12f5fd4ac24p1 0x1.5f2470d0a7588p1 0x1.ef0f10c6e893ap1 0x1.2f9337d47c7e3p1 0x1.bb6ed102eaeb8p1 0x1.ff6e952b1ffa1p1
        0x1.577a288016fdap1 0x1.9b77e69493ba8p1 0x1.cbe22cd82013fp1 0x1.d7c1819bc932ep1"""
    ),
    "hypot": _hex(
        """0x1.000001cc784cbp+52,0x1.fdd67bceb35fp+52 0x1.6p-45,0x1.2c2fc595456a7p-71 0x1.87de29ce10f34p-14,0x1.0000002d413cdp+0
        0x0.603e52daf0bfdp-1022,-0x0.a622d0a9a433bp-1022 0x0.19deaac345ffap-1022,0x0.92c8727c389b6p-1022
        -0x0.fffffffffffffp-1022,0x0.0000000000001p-1022 0x1.00014d4b1c6b9p-1015,-0x1.000105ba9bf4p-1015
        0x1.6a0a41410b1abp-1004,-0x1.4495fce36a73ep-1023 0x1.a308e1455f447p+0,0x1.9d931a83ef879p+0 0x1.205e5d5fee071p-9,0x1.a71193d4eb838p-9
        0x1.6d080c1f5339ep+25,0x1.149ee0ad66632p+13 -0x1.72b48b14296a7p-510,-0x1.3dcd53d99b107p-518
        0x1.9c6d80093ebf8p+446,0x1.add8969f3a07ep+421 0x1.fffffffffffffp+1023,0x1.fffffffffffffp+1023 0x1p-1074,0x1p-1074
        0x1.fffffffffffffp+1023,0x1p-1074"""
    ),
    "rsqrt": _hex(
        """0x1.eeaa6eb5b6291p+0 0x1.f1a1057b2d19cp+0 0x1.f370a790eb1c8p+0 0x1.f04f85808ca86p+0 0x1.f09d9be5cf7fdp+0 0x1.f393d121e3e8fp+0
        0x1.f3e4bf8ad8ed5p+0 0x1.f2d6fc7698912p+0 0x1.f5b13863b9d1dp+0 0x1.f8519026b6af6p+0 0x1.fbd353973abddp+0 0x1.fcb270cd06963p+0
        0x1.fbef9d5d5b97ep+0 0x1.ff92b3c01855ap+0 0x1.fcbd5f9640a0fp+0"""
    ),
}

_LN2 = math.log(2.0)

#: Where functions change a table's row, a polynomial or a method, or results become subnormal, infinite or constant. None is a turn.
SEAMS: dict[str, list[float]] = {
    "exp": [*((k + 0.5) * _LN2 / 128 for k in range(-300, 300)), -708.3964185322641, -744.4400719213812, 709.7827128933839],
    "exp2": [*((k + 0.5) / 128 for k in range(-300, 300)), -1022.0, -1022.00390625, -1074.0, 1023.99999],
    "expm1": [*((k + 0.5) * _LN2 / 128 for k in range(-300, 300)), 2.0**-54, -36.7, 709.78],
    "sinh": [2.0**-7, *((k + 0.5) * _LN2 / 128 for k in range(1, 300)), 710.47, 20.0],
    "cosh": [2.0**-7, *((k + 0.5) * _LN2 / 128 for k in range(1, 300)), 710.47, 20.0],
    "tanh": [2.0**-7, *((k + 0.5) * _LN2 / 128 for k in range(1, 300)), 19.0, 22.0],
    "log": [*((352 + i) / 512 for i in range(161)), *(1 + i / 256 for i in range(97)), 2.0**-1022],
    "log2": [*((352 + i) / 512 for i in range(161)), *(1 + i / 256 for i in range(97)), 2.0**-1022],
    "log10": [*((352 + i) / 512 for i in range(161)), *(1 + i / 256 for i in range(97)), 2.0**-1022],
    "log1p": [*((352 + i) / 512 - 1 for i in range(160)), *(i / 256 for i in range(1, 97)), 2.0**-54, -(2.0**-54)],
    "sin": [2.0**-27, math.pi / 4, *(2.0 ** (16 * g - 1023) for g in range(63, 64))],
    "cos": [2.0**-27, math.pi / 4, 3 * math.pi / 4],
    "tan": [2.0**-27, math.pi / 4, 3 * math.pi / 4, 5 * math.pi / 4],
    "asin": [
        *(math.sin(math.atan((i + 0.5) / 64)) for i in range(64)),
        *(math.cos(math.atan((i + 0.5) / 64)) for i in range(64)),
        0.5**0.5,
    ],
    "acos": [
        *(math.sin(math.atan((i + 0.5) / 64)) for i in range(64)),
        *(math.cos(math.atan((i + 0.5) / 64)) for i in range(64)),
        0.5**0.5,
    ],
    "atan": [*((i + 0.5) / 64 for i in range(64)), *(64 / (i + 0.5) for i in range(64)), 1.0, 2.0**60, 2.0**-30],
    "erf": [*((i + 0.5) / 32 for i in range(192)), 5.9, 6.0],
    "erfc": [*(i / 64 for i in range(-64, 96)), *(1 + (i + 16) / 32 for i in range(64)), 3.5, 7.5, 15.5, 26.54, 27.226],
    "cbrt": [1.0, 2.0, 4.0, 8.0, 2.0**-1022, 2.0**-1020],
    "rsqrt": [1.0, 2.0, 4.0, 2.0**-1022],
}


def consecutive(place: float, count: int) -> np.ndarray:
    """`count` neighbouring doubles around `place`, rising."""
    bits = int(np.array(abs(place)).view(np.int64)) + np.arange(-(count // 2), count - count // 2)
    values = np.maximum(bits, 0).view(np.float64)
    return values if place > 0 else -values[::-1]

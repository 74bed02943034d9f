"""`gompute.lang.promotion` against NumPy's own tables; bfloat16, which NumPy lacks, by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from gompute.lang import promotion
from gompute.lang.promotion import PromotionRefused
from gompute.lang.types import BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, SCALARS, U8, U16, U32, U64, ScalarType
from tests.lang.samples import NUMPY, UFUNCS

DTYPES = {BOOL: np.dtype(np.bool_), **NUMPY}
SIGNED = (I8, I16, I32, I64)
BF16_WITH = {
    BOOL: BF16,
    I8: BF16,
    U8: BF16,
    I16: F32,
    U16: F32,
    I32: F64,
    U32: F64,
    I64: F64,
    U64: F64,
    F16: F32,
    BF16: BF16,
    F32: F32,
    F64: F64,
}


def loses_digits(a: ScalarType, b: ScalarType) -> bool:
    return (a is U64 and b in SIGNED) or (b is U64 and a in SIGNED)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(DTYPES, repeat=2)))
def test_promotion_is_numpys(a: ScalarType, b: ScalarType) -> None:
    if loses_digits(a, b):
        with pytest.raises(PromotionRefused):
            promotion.promote(a, b)
    else:
        assert DTYPES[promotion.promote(a, b)] == np.promote_types(DTYPES[a], DTYPES[b])


@pytest.mark.parametrize("other", SCALARS.values())
def test_promotion_of_bf16(other: ScalarType) -> None:
    assert promotion.promote(BF16, other) is BF16_WITH[other]
    assert promotion.promote(other, BF16) is BF16_WITH[other]


def test_a_mix_that_loses_digits_names_both_casts() -> None:
    for pair in ((U64, I32), (I32, U64)):
        with pytest.raises(PromotionRefused) as refused:
            promotion.promote(*pair)
        assert "u64" in refused.value.reason
        assert "i32" in refused.value.reason
        assert refused.value.fixes == ("write i64(...) around the u64 operand", "write u64(...) around the i32 operand")
        assert refused.value.reason in str(refused.value)


@pytest.mark.parametrize("op", UFUNCS)
def test_the_type_of_every_operation_is_numpys(op: str) -> None:
    for a, b in itertools.product(DTYPES, repeat=2):
        bools = a is b is BOOL and op not in ("and", "or", "xor")
        with np.errstate(all="ignore"):
            try:
                wanted = UFUNCS[op](np.ones(1, DTYPES[a]), np.ones(1, DTYPES[b])).dtype
            except TypeError:
                wanted = None
        if wanted is None or bools or (loses_digits(a, b) and op != "truediv"):
            with pytest.raises(PromotionRefused):
                promotion.operation_type(op, a, b)
        else:
            assert DTYPES[promotion.operation_type(op, a, b)] == wanted, f"{a} {op} {b}"


def test_what_is_refused_says_why_and_what_to_write() -> None:
    with pytest.raises(PromotionRefused, match="`\\+` does not work on two bools") as refused:
        promotion.operation_type("add", BOOL, BOOL)
    assert refused.value.fixes == ("write i32(...) around an operand to count", "write `|` for a bool")
    with pytest.raises(PromotionRefused, match="`//` does not work on two bools") as refused:
        promotion.operation_type("floordiv", BOOL, BOOL)
    assert refused.value.fixes == ("write i32(...) around an operand to count",)
    with pytest.raises(PromotionRefused, match="`&` works on integers and bool, not on f32; write i32"):
        promotion.operation_type("and", I32, F32)
    with pytest.raises(PromotionRefused, match="`<<` works on integers, not on bf16"):
        promotion.operation_type("shl", BF16, I32)


def test_unary_types() -> None:
    for dtype in SCALARS.values():
        for op, refused in (("neg", dtype is BOOL), ("invert", dtype.is_float)):
            if refused:
                with pytest.raises(PromotionRefused):
                    promotion.unary_type(op, dtype)
            else:
                assert promotion.unary_type(op, dtype) is dtype


def test_comparisons_have_a_common_type_or_are_exact() -> None:
    for a, b in itertools.product(DTYPES, repeat=2):
        if loses_digits(a, b):
            assert promotion.comparison_type(a, b) is None
        else:
            assert promotion.comparison_type(a, b) is promotion.promote(a, b)


# ---- literals ----


@pytest.mark.parametrize("value", [True, 1, 1.5])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_literal_is_weak_as_in_numpy(value: float, dtype: ScalarType) -> None:
    assert DTYPES[promotion.weak_type(value, dtype)] == np.result_type(DTYPES[dtype], value)


def test_a_literal_takes_the_type_of_a_bf16() -> None:
    assert [promotion.weak_type(value, BF16) for value in (True, 1, 1.5)] == [BF16] * 3


@pytest.mark.parametrize("dtype", NUMPY)
def test_an_int_literal_fits_where_numpy_takes_it(dtype: ScalarType) -> None:
    edges = {sign * (2**n) + step for n in (0, 7, 8, 15, 16, 31, 32, 63, 64, 200) for step in (-1, 0, 1) for sign in (1, -1)}
    for value in sorted({0, 10**400, -(10**400), *edges}):
        try:
            with np.errstate(all="ignore"):
                wanted = (np.zeros(1, NUMPY[dtype]) + value).item()
        except OverflowError:
            wanted = None
        assert promotion.fits(value, dtype) == (wanted is not None), value
        if wanted is None:
            with pytest.raises(PromotionRefused):
                promotion.literal(value, dtype)
        else:
            assert promotion.literal(value, dtype) == wanted


def test_a_float_literal_fits_float_types_alone() -> None:
    assert promotion.literal(0.1, F32) == float(np.float32(0.1))
    assert promotion.literal(1e10, F16) == math.inf
    assert math.isnan(promotion.literal(math.nan, BF16))
    assert not promotion.fits(1.0, I32)
    with pytest.raises(PromotionRefused, match=r"1\.0 is a float, and i32 is not a float type; write i32\(1\.0\)"):
        promotion.literal(1.0, I32)


def test_bool_literals() -> None:
    assert promotion.literal(True, BOOL) is True
    assert promotion.literal(True, I8) == 1
    assert promotion.literal(True, F16) == 1.0
    with pytest.raises(PromotionRefused, match="2 is not a bool"):
        promotion.literal(2, BOOL)


def test_a_literal_out_of_range_says_the_range() -> None:
    with pytest.raises(PromotionRefused) as refused:
        promotion.literal(300, I8)
    assert refused.value.reason == "300 is out of range for i8 (-128 to 127)"
    assert refused.value.fixes == ("write i8(300) to wrap it", "convert the other operand to a wider type")
    with pytest.raises(PromotionRefused, match="the integer of 1329 bits is too large for f32"):
        promotion.literal(10**400, F32)


def test_a_comparison_with_a_literal_out_of_range_is_known() -> None:
    assert [promotion.where_outside(v, U8) for v in (-1, 0, 255, 256)] == [-1, 0, 0, 1]
    assert [promotion.where_outside(v, I64) for v in (-(2**63) - 1, -(2**63), 2**63 - 1, 2**63)] == [-1, 0, 0, 1]

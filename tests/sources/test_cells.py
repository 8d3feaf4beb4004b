"""Cells as people write them."""

import contextlib
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.sources.cells import (
    Decimal,
    decimal_evidence,
    parse_moment,
    parse_number,
    parse_seconds,
)
from prefetch_advisor.sources.tabular.bad_rows import BadCell


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("5", None, 5),
        (" 5.25 ", None, 5.25),
        ("1e3", None, 1000),
        ("0,5", None, 0.5),
        ("0,123", None, 0.123),
        ("1,234", ".", 1234),
        ("1,234", ",", 1.234),
        ("1.234", None, 1.234),
        ("1.234", ".", 1.234),
        ("1.234", ",", 1234),
        ("1,234.5", None, 1234.5),
        ("1.234,5", None, 1234.5),
        ("1 234,5", None, 1234.5),
        ("1\u202f234\u202f567", None, 1_234_567),
        ("1'234.5", None, 1234.5),
        ("1,234,567", ".", 1_234_567),
        ("1.234.567", ",", 1_234_567),
        ("1e3", ",", 1000),
    ],
)
def test_numbers_are_read_as_meant(text: str, decimal: Decimal, value: float):
    assert parse_number(text, decimal) == value


@pytest.mark.parametrize("text", ["", "abc", ",", ".", "1,23,4", "1 234 5", "12,34.5", "٣", "0x1f"])
def test_what_is_no_number_is_refused(text: str):
    with pytest.raises(BadCell):
        parse_number(text)


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        *(("12,34", "."), ("0,5", "."), ("1.234,5", "."), ("1.234.567", "."), ("1 234,5", ".")),
        *(("0.401", ","), ("1,234.5", ","), ("1,234,567", ","), (".5", ","), ("1.5e3", ",")),
    ],
)
def test_a_number_that_contradicts_the_file_is_refused(text: str, decimal: Decimal):
    mark = "point" if decimal == "." else "comma"
    with pytest.raises(BadCell) as error:
        parse_number(text, decimal)
    assert f"with a decimal {mark}, as in the rows before" in error.value.expected


def test_ambiguous_number_is_refused_and_shown_both_ways():
    with pytest.raises(BadCell) as error:
        parse_seconds("1,234", "ms")
    assert "1.234 or 1234" in error.value.expected


@pytest.mark.parametrize(
    ("text", "unit", "seconds"),
    [
        ("5ms", None, 0.005),
        ("5 MS", "s", 0.005),
        ("0,5s", None, 0.5),
        ("1e3us", None, 0.001),
        ("7 µs", None, 7e-6),
        ("2min", None, 120),
        ("9.401", "ms", 0.009401),
        ("0", "ns", 0),
    ],
)
def test_durations_take_the_unit_of_the_cell_first(text: str, unit: str | None, seconds: float):
    assert parse_seconds(text, unit) == seconds


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "-0.5ms", "", "  ", "5", "fast", "1e300s"])
def test_what_is_no_duration_is_refused(text: str):
    with pytest.raises(BadCell):
        parse_seconds(text, None)


def test_decimal_separator_needs_evidence():
    assert decimal_evidence(["1,234", "2,500"]) is None
    assert decimal_evidence(["1,234", "0,5"]) == ","
    assert decimal_evidence(["1,234", "0.5"]) == "."
    assert decimal_evidence(["1,234", "1.234,5 ms"]) == ","
    assert decimal_evidence(["5", "17"]) is None
    assert decimal_evidence(["1.234.567", "5.5.5"]) == ","
    # three decimals are not thousands: what a timer prints in ms
    assert decimal_evidence(["1.234", "9.401", "12.750"]) == "."
    assert decimal_evidence(["1.234", "2,345"]) is None


def test_the_majority_settles_the_decimal_separator():
    assert decimal_evidence(["0,5", "0.5"]) is None
    assert decimal_evidence(["0,5", "0.5", "0,7"]) == ","
    assert decimal_evidence(["0,5", "0.5", "1.25"]) == "."


@settings(deadline=None)
@given(st.floats(0, 1e8, allow_subnormal=False), st.sampled_from(["s", "ms", "us", "ns"]))
def test_a_printed_float_is_read_back(value: float, unit: str):
    per_second = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    assert parse_seconds(repr(value), unit) == value / per_second
    assert parse_seconds(f"{value!r}{unit}", None) == value / per_second


@settings(deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 99), st.sampled_from([",.", ".,", " ,", "'."]))
def test_grouped_numbers_are_read_back(whole: int, cents: int, marks: str):
    text = f"{whole:,}".replace(",", marks[0]) + f"{marks[1]}{cents:02}"
    assert parse_number(text) == float(f"{whole}.{cents:02}")


@settings(deadline=None)
@given(st.text(max_size=12), st.sampled_from([None, ".", ","]))
def test_any_text_is_a_number_or_a_bad_cell(text: str, decimal: Decimal):
    try:
        assert isinstance(parse_number(text, decimal), float)
        seconds = parse_seconds(text, "ms", decimal)
    except BadCell as error:
        assert error.found.isprintable()
        assert len(error.found) <= 60
    else:
        assert 0 <= seconds < math.inf


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("2023-11-14T22:13:20Z", 1_700_000_000_000_000_000),
        ("2023-11-14 22:13:20", 1_700_000_000_000_000_000),
        ("2023-11-14 23:13:20.5 +0100", 1_700_000_000_500_000_000),
        ("2023-11-14 22:13:20,250 UTC", 1_700_000_000_250_000_000),
        ("1700000000", 1_700_000_000_000_000_000),
        ("1700000000.123456789", 1_700_000_000_123_456_789),
        ("1700000000123", 1_700_000_000_123_000_000),
        ("1700000000123456", 1_700_000_000_123_456_000),
        ("1700000000123456789", 1_700_000_000_123_456_789),
    ],
)
def test_moments_are_known_by_form_and_magnitude(text: str, nanoseconds: int):
    assert parse_moment(text) == nanoseconds


def test_small_count_needs_a_unit():
    assert parse_moment("12.5", unit="ms") == 12_500_000
    assert parse_moment("12.5", fallback="s") == 12_500_000_000
    with pytest.raises(BadCell, match="unit"):
        parse_moment("12.5")


@settings(deadline=None)
@given(st.text(max_size=30) | st.datetimes().map(str) | st.integers().map(str))
def test_any_text_is_a_moment_or_a_bad_cell(text: str):
    with contextlib.suppress(BadCell):
        assert abs(parse_moment(text)) < 2**63

"""Times and rates are exact, whatever the unit; people read them in a fitting unit."""

from fractions import Fraction

import pytest

from mpinet.base.units import byte_time, duration, readable
from mpinet.errors import UsageError


@pytest.mark.parametrize(
    ("text", "unit", "time"),
    [
        ("7", "ns", 7),
        (7, "s", 7),
        ("1.5us", "ns", 1500),
        ("2 ms", "us", 2000),
        ("0", "ps", 0),
        ("1.5", "fs", Fraction(3, 2)),
        ("1.5ns", "us", Fraction(3, 2000)),
        ("10/3 ps", "ps", Fraction(10, 3)),
        ("2/5", "ns", Fraction(2, 5)),
    ],
)
def test_times_are_read_exactly(text, unit, time):
    assert duration(text, unit) == time


@pytest.mark.parametrize(
    ("text", "unit", "time"),
    [
        ("25GB/s", "ps", 40),
        ("1Gbit/s", "ns", 8),
        ("4", "ns", 4),
        ("25GB/s", "ns", Fraction(1, 25)),
        *((f"{rate}GB/s", "ns", Fraction(1, rate)) for rate in (46, 150, 300, 450, 600, 900)),
        ("1.8TB/s", "fs", Fraction(10**6, 1800)),
        ("300Gbit/s", "ps", Fraction(80, 3)),
    ],
)
def test_rates_are_times_per_byte(text, unit, time):
    assert byte_time(text, unit) == time


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0GB/s", "a rate must be above 0"),
        ("3 weeks", "times have s, ms, us, ns, ps or fs"),
        ("-3", "a time per byte is a number, a time, or a rate"),
        ("1/0", "a time per byte is a number, a time, or a rate"),
        ("1.5/2", "a time per byte is a number, a time, or a rate"),
    ],
)
def test_texts_that_are_no_time_are_refused(text, sentence):
    with pytest.raises(UsageError, match=sentence):
        byte_time(text, "ns")


@pytest.mark.parametrize(
    ("time", "unit", "text"),
    [
        (38_820_600, "ps", "38.8206 us"),
        (187_519_000, "ps", "187.519 us"),
        (999, "ns", "999 ns"),
        (1000, "ns", "1 us"),
        (Fraction(1, 300), "ns", "3.33333 ps"),
        (0.04, "fs", "0.04 fs"),
        (90_000, "s", "90000 s"),
        (2**60, "s", "1,152,921,504,606,846,976 s"),
        (0, "ps", "0"),
    ],
)
def test_people_read_times_in_the_largest_unit_of_which_there_is_one(time, unit, text):
    assert readable(time, unit) == text

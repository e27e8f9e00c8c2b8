"""Times and rates are read where they are whole in the unit."""

import pytest

from mpinet.base.units import byte_time, duration
from mpinet.errors import UsageError


@pytest.mark.parametrize(
    ("text", "unit", "whole"),
    [("7", "ns", 7), (7, "s", 7), ("1.5us", "ns", 1500), ("2 ms", "us", 2000), ("0", "ps", 0)],
)
def test_times_are_read(text, unit, whole):
    assert duration(text, unit) == whole


@pytest.mark.parametrize(
    ("text", "unit", "whole"), [("25GB/s", "ps", 40), ("1Gbit/s", "ns", 8), ("4", "ns", 4)]
)
def test_rates_are_times_per_byte(text, unit, whole):
    assert byte_time(text, unit) == whole


@pytest.mark.parametrize(
    ("text", "unit", "sentence"),
    [
        ("1.5us", "us", "take a smaller unit, such as --unit ns"),
        ("25GB/s", "ns", "0.04 ns, which is not whole"),
        ("1.5", "fs", "which is not whole"),
        ("0GB/s", "ns", "a rate is more than 0"),
        ("3 weeks", "ns", "no unit of time"),
        ("-3", "ns", "a time per byte is whole units"),
    ],
)
def test_what_is_not_whole_or_no_time_is_refused(text, unit, sentence):
    with pytest.raises(UsageError, match=sentence):
        byte_time(text, unit)

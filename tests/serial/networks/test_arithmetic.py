"""Bits are counted and found, and numbers divided, as Python's integers do it."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mpinet.compiled import Mapped, rule
from mpinet.networks.arithmetic import count_ones, highest_one, inverse, lowest_one, quotient

WORDS = st.integers(1, (1 << 63) - 1)


@rule
def bits_of(word, question, params):
    """The number of one bits, the lowest, or the highest."""
    if question == 0:
        return count_ones(word)
    return lowest_one(word) if question == 1 else highest_one(word)


COMPILED = Mapped(bits_of, np.zeros(0, np.int64), nodes=(1 << 63) - 1, ports=3)


def stated(word):
    """The same by Python."""
    return [word.bit_count(), (word & -word).bit_length() - 1, word.bit_length() - 1]


@given(WORDS)
@example(1)
@example((1 << 63) - 1)
def test_bits_of_one_number(word):
    assert [count_ones(word), lowest_one(word), highest_one(word)] == stated(word)
    assert count_ones(np.int64(word)) == word.bit_count()
    assert count_ones(0) == 0


@given(st.lists(WORDS.filter(lambda word: word < (1 << 63) - 1), min_size=22))
def test_bits_of_many_numbers_in_compiled_code(words):
    found = COMPILED(np.array(words)[:, np.newaxis], np.arange(3))
    assert found.tolist() == [stated(word) for word in words]


@given(st.integers(1, 1 << 40), st.integers(0, (1 << 40) - 1), st.integers(0, 1 << 10))
def test_quotient_is_that_of_a_division(divisor, number, more):
    largest = max(divisor, number) + more
    assert quotient(number, divisor, inverse(divisor, largest)) == number // divisor


@pytest.mark.parametrize("largest", [(1 << 31) - 1, 1 << 31, (1 << 36) + 5])
@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 1 << 16, (1 << 16) + 1, (1 << 31) - 1])
def test_quotient_next_to_multiples_of_the_divisor(divisor, largest):
    multiple = largest // divisor * divisor
    for number in (0, divisor - 1, divisor, multiple - 1, multiple, largest):
        if 0 <= number <= largest:
            assert quotient(number, divisor, inverse(divisor, largest)) == number // divisor

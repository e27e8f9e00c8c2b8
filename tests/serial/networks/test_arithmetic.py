"""Bits of a processor's number are counted and found as Python's integers do it."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from mpinet.compiled import Mapped, rule
from mpinet.networks.arithmetic import count_ones, highest_one, lowest_one

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

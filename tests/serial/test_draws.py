"""Random draws: permutations are permutations, compiled is plain, and values spread evenly."""

from collections import Counter
from itertools import permutations
from math import factorial, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.draws import draw, draw32, mix32, permuted, shuffled, uniform_permutation, unshuffled

SEEDS = [0, 1, -1, 2**31, 2**40 + 7, 2**62 - 1, -(2**63)]


@pytest.mark.parametrize("size", [*range(1, 40), 63, 64, 65, 255, 256, 257, 1000])
def test_shuffle_is_a_bijection_and_unshuffle_its_inverse(size):
    for seed in SEEDS[:3]:
        shuffle = [shuffled(i, size, seed) for i in range(size)]
        assert sorted(shuffle) == list(range(size))
        assert [unshuffled(i, size, seed) for i in shuffle] == list(range(size))


@given(st.integers(1, 2**60), st.sampled_from(SEEDS), st.data())
def test_unshuffle_brings_any_index_of_any_size_back(size, seed, data):
    index = data.draw(st.integers(0, size - 1))
    place = shuffled(index, size, seed)
    assert 0 <= place < size
    assert unshuffled(place, size, seed) == index


@kernel
def permute_both_ways(rule: PortRule, numbers: Ints, params: Ints, places: Table) -> None:
    """Compiled: where the permutation and its inverse take these numbers."""
    place = rule.call
    for i in range(numbers.size):
        places[0, i] = place(numbers[i], 0, params)
        places[1, i] = place(numbers[i], 1, params)


@kernel
def draw_all(seed: int, firsts: Ints, seconds: Ints, drawn: Ints) -> None:
    """Compiled: the draws for these counters."""
    for i in range(firsts.size):
        drawn[i] = draw(seed, firsts[i], seconds[i])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [1, 2, 100, 2**20, 2**45 + 11])
def test_compiled_permutation_is_that_of_plain_python(size, seed):
    params = np.array([size, 2, seed])
    numbers = np.unique(np.linspace(0, size - 1, 40, dtype=np.int64))
    places = np.empty((2, len(numbers)), np.int64)
    permute_both_ways(permuted.native, numbers, params, places)
    assert places[0].tolist() == [shuffled(int(i), size, seed) for i in numbers]
    assert places[1].tolist() == [unshuffled(int(i), size, seed) for i in numbers]


@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_draws_are_those_of_plain_python(seed):
    firsts = np.array([0, 1, 2**31, 2**32 - 1, 2**32, 2**50 + 3, 2**62])
    seconds = firsts[::-1].copy()
    drawn = np.empty(len(firsts), np.int64)
    draw_all(seed, firsts, seconds, drawn)
    counters = zip(firsts.tolist(), seconds.tolist(), strict=True)
    assert drawn.tolist() == [draw(seed, first, second) for first, second in counters]
    assert all(0 <= value < 2**62 for value in drawn.tolist())


def chi_square(values, kinds):
    """Pearson's statistic of evenly spread values 0..kinds-1, and a bound 6 deviations above."""
    counts = Counter(values)
    expected = len(values) / kinds
    statistic = sum((counts[kind] - expected) ** 2 / expected for kind in range(kinds))
    freedom = kinds - 1
    return statistic, freedom + 6 * (2 * freedom) ** 0.5


@pytest.mark.parametrize("kinds", [2, 7, 64])
def test_draws_spread_evenly_over_every_counter(kinds):
    series = {
        "seed": [draw(i, 3, 5) for i in range(4000)],
        "first": [draw(7, i, 5) for i in range(4000)],
        "second": [draw(7, 3, i) for i in range(4000)],
    }
    for drawn in series.values():
        low, high = ([v >> shift for v in drawn] for shift in (0, 40))
        for values in (low, high):
            statistic, bound = chi_square([value % kinds for value in values], kinds)
            assert statistic < bound


@pytest.mark.parametrize("size", [5, 16, 30])
def test_every_index_goes_everywhere_equally_often(size):
    for index in (0, size // 2, size - 1):
        places = [shuffled(index, size, seed) for seed in range(60 * size)]
        statistic, bound = chi_square(places, size)
        assert statistic < bound


def test_two_indices_go_to_every_pair_of_places_equally_often():
    pairs = [(shuffled(0, 6, seed), shuffled(3, 6, seed)) for seed in range(3000)]
    kinds = {pair: kind for kind, pair in enumerate(sorted(set(pairs)))}
    assert len(kinds) == 30
    statistic, bound = chi_square([kinds[pair] for pair in pairs], 30)
    assert statistic < bound


@pytest.mark.parametrize("size", [0, 1, 2, 3, 100, 4097])
def test_a_uniform_permutation_is_a_permutation(size):
    assert sorted(uniform_permutation(size, 3).tolist()) == list(range(size))


@pytest.mark.parametrize(("size", "each"), [(3, 400), (4, 200), (5, 60)])
def test_all_permutations_are_equally_likely_over_the_seeds(size, each):
    kinds = factorial(size)
    seen = [tuple(uniform_permutation(size, seed).tolist()) for seed in range(each * kinds)]
    assert len(set(seen)) == kinds
    statistic = sum((count - each) ** 2 / each for count in Counter(seen).values())
    freedom = kinds - 1
    assert statistic < freedom + 3.3 * sqrt(2 * freedom)


def is_even(order):
    """Parity by the number of cycles."""
    left, cycles = set(range(len(order))), 0
    while left:
        cycles, place = cycles + 1, min(left)
        while place in left:
            left.remove(place)
            place = order[place]
    return (len(order) - cycles) % 2 == 0


@pytest.mark.parametrize("size", [16, 64, 256])
def test_half_of_the_uniform_permutations_are_even_and_all_shuffles_of_so_many_are(size):
    seeds = range(400)
    even = sum(is_even(uniform_permutation(size, seed).tolist()) for seed in seeds)
    assert 200 - 3.3 * 10 < even < 200 + 3.3 * 10
    shuffles = ([shuffled(i, size, seed) for i in range(size)] for seed in range(5))
    assert all(is_even(shuffle) for shuffle in shuffles)


def test_the_keys_of_seeds_are_no_shifts_of_one_another():
    place = uniform_permutation(2**12, 0)
    for seed in (1, 2, 2**32, 2**63 - 1):
        other = uniform_permutation(2**12, seed)
        same = [int((np.roll(place, by) == other).sum()) for by in range(2**12)]
        assert max(same) < 12  # of 4096 Poisson numbers of mean 1


def test_the_draws_of_two_seeds_are_shifts_of_one_cycle():
    word = 0x1E35A7BD + 0x2545F491
    one, other = (mix32(mix32(seed ^ word)) for seed in (0, 1))
    shift = (one - other) % 2**32
    assert all(
        draw32(0, i, 0, 1) == draw32(1, (i + shift) % 2**32, 0, 1) for i in range(0, 10**6, 9973)
    )


def test_equal_keys_are_told_apart_by_second_ones(monkeypatch):
    class Few(np.random.Philox):
        def random_raw(self, size):
            return super().random_raw(size) % 3

    monkeypatch.setattr(np.random, "Philox", Few)
    seen = Counter(tuple(uniform_permutation(3, seed).tolist()) for seed in range(2400))
    assert sorted(seen) == sorted(permutations(range(3)))

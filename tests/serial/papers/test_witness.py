"""Witnesses of matrices: the first place with the value, as a search entry by entry finds it."""

from itertools import product

import numpy as np
import pytest

from mpinet.papers import witness

MATRICES = [np.random.default_rng(seed).integers(0, 3, (5, 4)) for seed in range(20)]


def first(matrix, wanted):
    """The first pair, row by row, whose entry is wanted."""
    return next(pair for pair in product(range(5), range(4)) if wanted(matrix[pair]))


@pytest.mark.parametrize("matrix", MATRICES)
def test_of_several_extreme_pairs_the_one_with_the_smallest_numbers_is_taken(matrix):
    most, least = max(matrix.flat), min(matrix.flat)
    assert witness.largest_pair(matrix) == first(matrix, lambda entry: entry == most)
    assert witness.smallest_pair(matrix) == first(matrix, lambda entry: entry == least)
    source, target = witness.largest_pair(matrix)
    found = witness.farthest(matrix)
    assert (found.value, found.where) == (most, {"source": source, "target": target})


@pytest.mark.parametrize("matrix", MATRICES)
def test_the_first_marked_pair_is_found(matrix):
    source, target = first(matrix, lambda entry: entry == matrix[3, 2])
    marked = witness.first_pair(matrix == matrix[3, 2])
    assert marked == {"source": source, "target": target}


def test_there_is_no_pair_where_none_is_marked():
    assert witness.first_pair(np.zeros((3, 3), bool)) == {}


def test_an_extreme_of_a_row_has_its_first_index_as_witness():
    values = np.array([4, 7, 1, 7, 1])
    assert witness.largest(values, "node").where == {"node": 1}
    assert witness.largest(values, "level", 1).where == {"level": 2}
    assert witness.smallest(values, "node").where == {"node": 2}
    assert (witness.largest(values, "node").value, witness.smallest(values, "node").value) == (7, 1)

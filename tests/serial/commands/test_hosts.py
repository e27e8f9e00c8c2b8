"""What is said where the hosts of a job differ."""

import pytest

from mpinet.jobs.hosts import difference

ALIKE = ["a", "0.1.0, sources 1234", {"f": "1"}]


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (["b", "0.1.0, sources 1234", {"f": "1"}], ""),
        (
            ["b", "0.1.0, sources 99", {"f": "1"}],
            "b has another version of mpinet (0.1.0, sources 99) than a",
        ),
        (["b", "0.1.0, sources 1234", {"f": "2"}], "f has different contents on b and on a."),
        (["b", "0.1.0, sources 1234", {}], "f exists on a but not on b: all hosts need the file."),
        (["b", "0.1.0, sources 1234", {"f": "1", "g": "1"}], "g exists on b but not on a"),
    ],
)
def test_the_host_that_differs_is_named(other, sentence):
    said = difference([ALIKE, ALIKE, other])
    assert said.startswith(sentence)
    assert bool(said) == bool(sentence)


def test_other_ranks_than_the_first_have_nothing_to_compare():
    assert difference([]) == ""

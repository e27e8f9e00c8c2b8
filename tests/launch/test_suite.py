"""mpi4py's own suite: what passes under a real mpirun passes here, but for what is refused."""

import pytest

from launch import suite

REFUSED = {
    "test_p2p_obj": "testCommLock",
    "test_ctypes": "testHandleAdress",
    "test_objmodel": "testCAPI",
    "test_util_pool": "test_apply_async_timeout",
}
"""Tests that may fail, by module: those that have these letters in their names."""

PARTS = 32
"""Tests that share the modules of a size, none of which takes longer than a long test may."""


@pytest.mark.long
@pytest.mark.parametrize("size", suite.SIZES)
@pytest.mark.parametrize("part", range(PARTS))
def test_what_passes_under_mpirun_passes_here(size, part):
    names = suite.modules()[part::PARTS]
    suite.measure([size], names)
    suite.write()
    found = {name: suite.lacking(size, name) for name in names}
    assert any(passed for passed, _ in found.values())
    assert not {
        test
        for name, (_, lacks) in found.items()
        for test in lacks
        if not (name in REFUSED and REFUSED[name] in test)
    }


def test_the_worst_of_a_test_on_all_ranks_counts():
    found = {"a": "passes", "b": "skips"}
    suite.worst(found, {"a": "fails", "b": "passes", "c": "skips"})
    assert found == {"a": "fails", "b": "passes", "c": "skips"}
    suite.worst(found, {"a": "passes", "c": "begins"})
    assert found == {"a": "fails", "b": "passes", "c": "begins"}


def test_sizes_with_equal_cells_share_a_column():
    columns = [("module", "a", "b"), ("1 processor", "4", "0"), ("2 processors", "4", "7")]
    assert suite.merged(columns) == columns
    together = [*columns, ("3 processors", "4", "7"), ("9 processors", "4", "7")]
    assert suite.merged(together) == [*columns[:2], ("2, 3, 9 processors", "4", "7")]

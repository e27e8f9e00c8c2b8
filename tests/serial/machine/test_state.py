"""Rows that come a few at a time stand in order in one array, and go on from a checkpoint."""

import numpy as np
import pytest

from mpinet.machine.state import Collected


@pytest.mark.parametrize("most", [0, 3, 100])
def test_rows_stand_in_the_order_in_which_they_came(most: int) -> None:
    """Also where more come than were foreseen."""
    parts = [np.arange(2 * count).reshape(-1, 2) + 100 * count for count in (0, 2, 1, 5)]
    collected = Collected("came", most, 2)
    for part in parts:
        collected.add(part)
    assert np.array_equal(collected.rows, np.concatenate(parts))
    again = Collected("came", most, 2)
    again.add(parts[1])
    again.restore({"came": collected.state()["came"].value})
    again.add(parts[3])
    assert np.array_equal(again.rows, np.concatenate([*parts, parts[3]]))


def test_a_checkpoint_knows_where_rows_are() -> None:
    collected = Collected("came", 4, 2, lambda rows: 7 + rows[:, 1])
    collected.add(np.array([[1, 2], [3, 4]]))
    found = collected.state()["came"]
    assert found.node(found.value).tolist() == [9, 11]

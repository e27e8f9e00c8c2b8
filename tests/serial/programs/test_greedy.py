"""The greedy searches of many items, of which each processor looks at some."""

from collections import Counter
from itertools import takewhile

import numpy as np
import pytest

import mpinet
from mpinet.programs.matchedgossip import matched_rows
from mpinet.programs.rarest import rarest_rows
from mpinet.programs.starts import FEW

ITEMS = FEW + 100
"""Items of five processors, as many as make them look at some."""


@pytest.mark.parametrize("search", [rarest_rows, matched_rows], ids=["rarest", "matching"])
@pytest.mark.parametrize("name", ["complete:5", "ring:5"])
def test_many_items_come_everywhere_under_the_port_model_in_few_steps(name, search):
    topology, sources = mpinet.open(name), np.arange(ITEMS) % 5
    one_port = search is matched_rows
    busy = 1 if one_port else topology.ports
    bound = -(-(ITEMS - ITEMS // 5) // busy)
    held = {(int(source), item) for item, source in enumerate(sources)}
    used = Counter[object]()
    rows = search(topology, sources, bound).tolist()
    for step in range(1, rows[-1][0] + 1):
        came = [row[1:] for row in takewhile(lambda row, now=step: row[0] == now, rows)]
        rows = rows[len(came) :]
        assert all((sender, item) in held for sender, _, item in came)
        assert all(receiver in topology.neighbors(sender) for sender, receiver, _ in came)
        for sender, receiver, item in came:
            assert (receiver, item) not in held
            held.add((receiver, item))
            used.update(
                [(step, "out", sender), (step, "in", receiver)]
                if one_port
                else [(step, sender, receiver)]
            )
    assert not rows and len(held) == 5 * ITEMS and max(used.values()) == 1
    assert step <= 1.02 * bound

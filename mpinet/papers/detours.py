"""Local detours around faults, walked between all live nodes, for claims of several papers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.claims import Measured
from mpinet.machine.faults import Faults
from mpinet.measure.routes import Lengths, walk_pairs
from mpinet.networks import open as open_topology
from mpinet.networks.detours import DETOUR
from mpinet.networks.topology import Topology
from mpinet.networks.walks import rules

LOST = "undelivered messages"
LONGEST = "longest detour"
"""Values of `detours`: messages between live nodes that do not arrive, and the most hops by which a
route is longer than without faults.
"""


def detours(topology: str, faults: Iterable[dict[str, Any]]) -> Measured:
    """Return the worst values over several sets of faults, with the place of the longest detour."""
    network = open_topology(topology)
    lost, longest, where = 0, 0, dict[str, Any]()
    for each in faults:
        live = np.setdiff1d(np.arange(network.size), each.get("nodes", []))
        ends = np.stack(np.meshgrid(live, live, indexing="ij")).reshape(2, -1)
        before, after = (
            lengths(network, some, ends) for some in (Faults(network), Faults(network, **each))
        )
        lost = max(lost, int((after < 0).sum()))
        more = after - before
        if more.max() > longest:
            at = int(more.argmax())
            longest = int(more[at])
            where = {**each, "source": int(ends[0, at]), "target": int(ends[1, at])}
    return Measured({LOST: lost, LONGEST: longest}, where)


def lengths(network: Topology, faults: Faults, ends: Ints) -> Ints:
    """Return the hops of the routes between pairs of nodes; negative for those that do not end."""
    hops = np.empty(ends.shape[1], np.int64)
    routing = network.routing(DETOUR).around(faults.dead, faults.cut)
    walk_pairs(rules(network, routing), *ends.copy(), Lengths(hops))
    return hops

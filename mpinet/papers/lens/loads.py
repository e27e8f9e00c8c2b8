"""Loads of processors and busses of the completed lens (section 6).

Sources and targets are all ordered pairs of different processors. A processor's load counts the
messages that it forwards for others. A bus's load counts every message on the bus.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpinet import measure
from mpinet.claims import Measured, claim
from mpinet.claims.remembered import remembered
from mpinet.measure.load import Loads
from mpinet.networks.lens.routing import by_plans
from mpinet.papers.grids import pairs_of
from mpinet.papers.lens.grids import C_SMALL
from mpinet.papers.lens.measured import distances, members, path_counts
from mpinet.papers.lens.symmetry import lens

Amounts = NDArray[np.float64]

EQUAL = 1e-8
"""Largest difference of expected loads that counts as a rounding error."""


@remembered
def expected_processor_loads(topology: str) -> Amounts:
    """Return the processors' loads if every shortest path is equally likely."""
    hops, counts = distances(topology), path_counts(topology)
    loads = np.zeros(len(hops))
    for node in range(len(hops)):
        through = hops[:, node, np.newaxis] + hops[node] == hops
        # Section 6 counts forwarded messages only, so a processor's own messages are left out.
        through[node], through[:, node] = False, False
        np.fill_diagonal(through, False)
        # The fraction of a pair's shortest paths through a node is the product of the counts on
        # both sides, divided by the total count.
        share = counts[:, node, np.newaxis] * counts[node] / counts
        loads[node] = share[through].sum()
    return loads


@remembered
def expected_bus_loads(topology: str) -> Amounts:
    """Return the busses' loads if every shortest path is equally likely."""
    hops, counts, on = distances(topology), path_counts(topology), members(topology)
    loads = np.zeros(len(on))
    crossed: dict[tuple[int, int], float] = {}
    for bus, nodes in on.items():
        for ends in ((u, v) for u in nodes for v in nodes if u != v):
            if ends not in crossed:
                u, v = ends
                through = hops[:, u, np.newaxis] + 1 + hops[v] == hops
                share = counts[:, u, np.newaxis] * counts[v] / counts
                crossed[ends] = share[through].sum()
            loads[bus] += crossed[ends]
    return loads


def extremes(loads: NDArray[Any], what: str) -> dict[str, Any]:
    """Return the busiest and the least busy processor or bus, with their loads."""
    busiest, idlest = int(loads.argmax()), int(loads.argmin())
    return {
        f"busiest {what}": busiest,
        "load": loads[busiest].item(),
        f"idlest {what}": idlest,
        "its": loads[idlest].item(),
    }


def spread(loads: Amounts, what: str) -> Measured:
    """Return the difference of the largest and the smallest load."""
    return Measured(float(loads.max() - loads.min()), extremes(loads, what))


def both_spreads(processors: Amounts, busses: Amounts) -> Measured:
    """Return the spread of the processors' loads and the spread of the busses' loads."""
    found = {"processors": spread(processors, "processor"), "busses": spread(busses, "bus")}
    values = {kind: spread.value for kind, spread in found.items()}
    return Measured(values, {kind: spread.where for kind, spread in found.items()})


PROCESSOR_LOADS = claim(
    "LENS-C1-processor-load",
    claimed=0.0,
    tolerance=EQUAL,
    grid=C_SMALL,
    cost=pairs_of,
    measured=lambda topology: spread(expected_processor_loads(topology), "processor"),
)

BUS_LOADS = claim(
    "LENS-C3-bus-load",
    claimed=0.0,
    tolerance=EQUAL,
    grid=C_SMALL,
    cost=pairs_of,
    measured=lambda topology: spread(expected_bus_loads(topology), "bus"),
)


@remembered
def routed(topology: str) -> Loads:
    """Return the loads of section 5's routing by pattern A, with the target's digits."""
    return measure.loads(topology, "patternA")


def routed_with_zeros(topology: str) -> Measured:
    """Return the loads of the same routing with 0 for arbitrary digits."""
    network = lens(topology)
    zeros = [0] * (2 * network.level)
    carried = measure.loads(network, by_plans(network, pattern_b=False, first=zeros))
    return both_spreads(carried.processors.astype(float), carried.channels.astype(float))


@claim(
    "LENS-S6-note-fair",
    claimed={"processors": 0.0, "busses": 0.0},
    tolerance=EQUAL,
    grid=C_SMALL,
    cost=pairs_of,
)
def routed_loads(topology: str) -> Measured:
    """Return the loads metered by the machine; the witness has them with 0 for arbitrary digits."""
    found = routed(topology)
    spreads = both_spreads(found.processors.astype(float), found.channels.astype(float))
    zeros = {"spreads with digit 0": routed_with_zeros(topology).value}
    return Measured(spreads.value, spreads.where | zeros)


UNIFORM_LOADS = claim(
    "LENS-S8-load",
    claimed={"processors": 0.0, "busses": 0.0},
    tolerance=EQUAL,
    grid=C_SMALL,
    cost=pairs_of,
    measured=lambda topology: both_spreads(
        expected_processor_loads(topology), expected_bus_loads(topology)
    ),
)

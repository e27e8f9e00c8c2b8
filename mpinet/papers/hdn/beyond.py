"""Beyond the paper: Hamiltonian cycles, connectivity, collectives and colours (open questions)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet import measure
from mpinet.claims import BEYOND, Measured, points, section
from mpinet.machine import Machine
from mpinet.networks import open as open_topology
from mpinet.networks.cycle import cycle_order
from mpinet.papers.detours import LONGEST, LOST, detours
from mpinet.papers.hdn.broadcasts import is_even
from mpinet.papers.hdn.grids import (
    FIG10,
    FIG11,
    R1_TO_300,
    Net,
    listed,
    net,
    nodes_of,
    of_r1,
    pairs_of,
    r1,
    size_of,
    within_r1,
)
from mpinet.papers.measured import links
from mpinet.programs.collective import CollectiveOutcome
from mpinet.programs.exchange import FARTHEST, exchange
from mpinet.programs.gossip import gossip
from mpinet.programs.multicast import multicast

LIFTED = "lifted"
"""Name of cycles made by the lifting scheme."""


claim_beyond = section(place=BEYOND)


@claim_beyond(
    "HDN-X-hamiltonian",
    relation="all",
    grid=points("R1, and the network of Figure 11", lambda: listed([*r1(), FIG10, FIG11])).quick(
        lambda topology: size_of(topology) <= 300
    ),
    cost=nodes_of,
)
def hamiltonian(topology: str) -> Measured:
    """Follow the network's own Hamiltonian cycle, or a cycle found by the solver."""
    found = measure.hamiltonian_cycle(topology)
    return Measured(found is not None and measure.is_hamiltonian_cycle(topology, found))


def contains_next(found: Net) -> bool:
    """Return whether each level's super-node contains the next level's super-node."""
    return all(
        set(after) <= set(before)
        for before, after in zip(found.members[:-1], found.members[1:], strict=True)
    )


@claim_beyond(
    "HDN-X-hamiltonian-scheme",
    relation="all",
    grid=within_r1("nested, k = 1, 2", lambda found: contains_next(found) and found.k <= 2),
    cost=nodes_of,
)
def scheme(topology: str) -> Measured:
    """Return whether the lifting scheme gives a Hamiltonian cycle, by following the cycle."""
    network = open_topology(topology)
    cycle = network.cycle()
    if cycle is None or cycle.name != LIFTED:
        return Measured(False, {"cycle": cycle.name if cycle else "none"})
    return Measured(measure.is_hamiltonian_cycle(network, cycle_order(network, cycle).tolist()))


connectivity = claim_beyond(
    "HDN-X-connectivity",
    claimed=lambda topology: net(topology).degree + net(topology).k,
    grid=R1_TO_300,
    cost=pairs_of,
    measured=measure.connectivity,
)


@claim_beyond(
    "HDN-X-gossip",
    claimed=lambda topology: {"steps": size_of(topology) - 1, "everything arrives": True},
    grid=R1_TO_300,
    cost=pairs_of,
)
def gossip_steps(topology: str) -> dict[str, Any]:
    """Return the steps of gossip on the one-port machine."""
    machine = Machine(topology, "one")
    result = gossip(machine, "cycle")
    return {"steps": machine.steps, "everything arrives": result.correct}


TO_64 = points("R1 with N <= 64", lambda: listed(of_r1(most=64))).quick(
    lambda topology: size_of(topology) <= 32
)

DETOURS = [
    claim_beyond(
        f"HDN-X-detour-{kind}",
        statement=f"with one dead {kind}, routing `detour` delivers every message between live "
        f"nodes, in at most {most} hops more than without the fault (every {kind})",
        relation="<=",
        claimed={LOST: 0, LONGEST: most},
        grid=TO_64,
        cost=pairs_of,
        measured=lambda topology, dead=dead: detours(topology, dead(topology)),
    )
    for kind, most, dead in (
        ("node", 7, lambda topology: ({"nodes": [node]} for node in range(size_of(topology)))),
        ("link", 9, lambda topology: ({"links": [each]} for each in measure.edges(topology))),
    )
]

total_exchange = claim_beyond(
    "HDN-X-exchange",
    relation="<=",
    claimed=1.07,
    grid=TO_64,
    cost=pairs_of,
    measured=lambda topology: over_bound(exchange(Machine(topology, "one"), algorithm=FARTHEST)),
)


def over_bound(found: CollectiveOutcome) -> float:
    """Return the steps of a collective over their lower bound."""
    assert found.correct
    return found.steps / found.lower_bound


@claim_beyond(
    "HDN-X-multicast-halving",
    relation="<=",
    claimed=6,
    grid=points(
        "R1 with 8 <= N <= 64", lambda: listed(of_r1(lambda found: found.nodes(found.k) > 7, 64))
    ),
    cost=pairs_of,
)
def multicasts(topology: str) -> float:
    """Return the largest quotient of steps and lower bound."""
    size = size_of(topology)
    draw = np.random.default_rng(size)
    sets = [1 + draw.permutation(size - 1)[:m] for m in (3, 7, size // 2) for _ in range(3)]
    found = (multicast(Machine(topology, "one"), 0, some.tolist()) for some in sets)
    return max(map(over_bound, found))


@claim_beyond(
    "HDN-X-bipartite",
    claimed=lambda topology: is_even(net(topology)),
    grid=points("R1", lambda: listed(of_r1())),
    cost=nodes_of,
)
def bipartite(topology: str) -> Measured:
    """Return whether no link joins two nodes at distances of equal parity from node 0."""
    parity = measure.distance_matrix(topology, [0])[0] % 2
    ends = measure.edges(topology)
    wrong = np.flatnonzero(parity[ends[:, 0]] == parity[ends[:, 1]])
    where = {"link": ends[wrong[0]].tolist()} if len(wrong) else {}
    return Measured(not len(wrong), where)


ROADRUNNERS = {"super=1": "4,12,2", "super=0": "6,12,2", "super=-": "11,12,2"}
"""Roadrunners of two levels of 24-port switches with at least as many nodes as these HDNs."""


def links_a_node(topology: str) -> float:
    """Return the number of links per node."""
    return links(topology) / open_topology(topology).size


roadrunner_links = claim_beyond(
    "HDN-X-roadrunner-links",
    note="The paper's claim on Roadrunner (HDN-S1-roadrunner) stays open: the paper has one "
    "sentence, and the wiring is our model (docs/papers/hdn 9), in which switches count as nodes.",
    relation=">",
    claimed=lambda super: links_a_node(f"roadrunner:{ROADRUNNERS[super]}"),
    grid=points("Table 3, k = 1", [{"super": name} for name in ROADRUNNERS]),
    measured=lambda super: links_a_node(f"hdn:2x3x5,{super}"),
)

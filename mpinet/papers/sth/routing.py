"""Routing and broadcast."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from mpinet import measure
from mpinet.claims import Corrected, Measured, claim, section
from mpinet.machine import Machine
from mpinet.networks.catalogue import open_topology
from mpinet.networks.sth.loop import FIRST, TARGET, WALK
from mpinet.networks.topology import Topology
from mpinet.papers.grids import networks, numbers, up_to
from mpinet.papers.measured import size_of
from mpinet.papers.sth.grids import KINDS, VALID, family, sth, sths
from mpinet.papers.sweeps import reached
from mpinet.papers.witness import at_pair, largest_pair
from mpinet.programs.broadcast import broadcast

LOOPS = family("lst", range(2, 17), "LST(m), m=2..16, all pairs")

SOURCES = 16
"""Number of broadcast sources in each network."""


def candidate_walks(topology: str, source: int, target: int, hops: int) -> list[list[int]]:
    """Return the nodes on the four candidate walks, each followed for a number of hops."""
    network = open_topology(topology)
    routing = network.routing("paper")
    machine = Machine(network, "all")
    # Headers as written by the paper's routing at the source, one for each of its four candidates.
    words = [target << TARGET | walk << WALK | 1 << FIRST for walk in range(4)]
    headers = np.array(words, np.int64).reshape(4, 1)
    walks = [[source] for _ in range(4)]
    for _ in range(hops):
        for walk, header in zip(walks, headers, strict=True):
            port = int(routing.decide(walk[-1], header, routing.params))
            walk.append(int(machine.step([walk[-1]], [port]).nodes[0]))
    return walks


@claim("STH-R-lst-example", claimed={"route": "2 22 21 20 19", "splength": 4})
def loop_example() -> dict[str, object]:
    """Return the example's route, walked hop by hop."""
    route = measure.walk("lst:3", 2, 19, "paper")
    return {"route": " ".join(map(str, route)), "splength": len(route) - 1}


@claim("STH-R-lst-example-shortest", claimed=0)
def selected_list() -> Measured:
    """Return the hops of the selected list beyond the distance, with a shortest path."""
    route, best = (measure.walk("lst:3", 2, 19, way) for way in ("paper", "optimal"))
    return Measured(len(route) - len(best), {"K1": route, "shorter": best})


def round_cells(ends: Iterable[int], walks: Iterable[str], splength: int) -> dict[str, object]:
    """Return the cells of a row of table 3."""
    return {
        **{f"R{i}": end for i, end in enumerate(ends, 1)},
        **{f"K{i}": walk for i, walk in enumerate(walks, 1)},
        "splength": splength,
    }


def walked_round(splength: int) -> dict[str, object]:
    """Return a row of table 3, walked hop by hop."""
    walks = candidate_walks("lst:3", 2, 19, splength)
    texts = [" ".join(map(str, walk)) for walk in walks]
    return round_cells((walk[-1] for walk in walks), texts, len(walks[0]) - 1)


TABLE_3 = [
    claim(
        f"STH-T3-row{row}",
        place=f"table 3, row {row}",
        statement=f"from 2 to 19 in LST(3): the ends and lists of the four walks of length "
        f"{row + 1} are as printed",
        claimed=round_cells(ends, walks, row + 1),
        measured=partial(walked_round, row + 1),
    )
    for row, ends, walks in (
        (1, (21, 10, 4, 0), ("2 22 21", "2 6 10", "2 3 4", "2 1 0")),
        (2, (20, 14, 5, 23), ("2 22 21 20", "2 6 10 14", "2 3 4 5", "2 1 0 23")),
        (3, (19, 18, 6, 22), ("2 22 21 20 19", "2 6 10 14 18", "2 3 4 5 6", "2 1 0 23 22")),
    )
]


claim_routing = section(place="routing", grid=LOOPS)


@claim_routing("STH-R-terminates", relation="all")
def terminates(topology: str) -> Measured:
    """Send a message between all pairs, and check the headers."""
    network = open_topology(topology)
    found = measure.route_lengths(network, "paper")
    if found.undelivered_pair is not None:
        source, target = found.undelivered_pair
        return Measured(False, {"source": source, "target": target, "why": found.reason})
    routing = network.routing("paper")
    number_bits = (network.size - 1).bit_length()
    hops = measure.length_matrix(network, "paper")
    for source in range(network.size):
        for target in range(network.size):
            listed = (routing.header_bits(source, target) - number_bits) // 2
            if source != target and listed != hops[source, target]:
                return Measured(False, {"source": source, "target": target, "listed": listed})
    return Measured(True)


@claim_routing("STH-R-shortest", claimed=0)
def shortest(topology: str) -> Measured:
    """Return the largest excess of a route's hops over the distance."""
    distances = measure.distance_matrix(topology)
    excess = measure.length_matrix(topology, "paper") - distances
    source, target = largest_pair(excess)
    route = measure.walk(topology, source, target, "paper")
    where = {"source": source, "target": target, "route": route}
    return Measured(int(excess.max()), where | {"distance": int(distances[source, target])})


def longest(topology: str, routing: str) -> Measured:
    """Return the hops of the longest route, with its ends."""
    found = measure.route_lengths(topology, routing)
    assert found.undelivered_pair is None and found.longest_pair is not None
    return at_pair(found.longest, found.longest_pair)


OPTIMAL = claim_routing(
    "STH-R-optimal",
    relation="<=",
    claimed=lambda topology: numbers(topology)[0] + 1,
    measured=lambda topology: longest(topology, "paper"),
    reading='"optimal" by itself: no route is longer than the diameter.',
    corrected=Corrected("STH-C-routes", claimed=lambda topology: 4 * numbers(topology)[0] - 2),
)


def _linear(topology: str) -> int:
    """Return a linear bound on routes: 4m for LST(m), n for a cube, the sum for a product."""
    name = topology.partition(":")[0]
    if name == "sth":
        m, n = numbers(topology)
        return 4 * m + n
    return 4 * numbers(topology)[0] if name == "lst" else numbers(topology)[0]


ORDER_NETWORKS = [
    *(f"lst:{m}" for m in range(2, 17)),
    *(f"{kind}:{n}" for kind in KINDS for n in VALID[kind] if n <= 8),
    *(sth(m, n, kind) for kind in KINDS for n in VALID[kind] if n <= 5 for m in (2, 3, 4)),
]

ORDER = claim_routing(
    "STH-R-order",
    relation="<=",
    claimed=_linear,
    grid=networks(
        "LST(m), m=2..16; cubes, n<=8; STH(m,n), m=2..4, n<=5, every kind; all pairs",
        sorted(ORDER_NETWORKS, key=size_of),
    ).quick(up_to(256)),
    cost=lambda topology: size_of(topology) ** 2 / 1e6,
    measured=lambda topology: longest(
        topology, "paper" if topology.startswith(("lst", "sth")) else "shortest"
    ),
    reading='"optimal (O(m+n))": of this order.',
)


@claim(
    "STH-R-sth-example",
    claimed={
        "nodes": 192,
        "LST part": "(2,6) (22,6) (21,6) (20,6) (19,6)",
        "cube part in place": 19,
        "end": "(19,3)",
    },
)
def sth_example() -> dict[str, object]:
    """Return the example's route, walked hop by hop."""
    network = open_topology("sth:3,3")
    route = measure.walk(network, network.node("(2,6)"), network.node("(19,3)"), "paper")
    places = [(node % 24, node // 24) for node in route]
    turn = next((i for i, (_, label) in enumerate(places) if label != 6), len(places))
    rest = {place for place, _ in places[turn:]}
    return {
        "nodes": reached("sth:3,3"),
        "LST part": " ".join(network.address(node) for node in route[:turn]),
        "cube part in place": rest.pop() if len(rest) == 1 else sorted(rest),
        "end": network.address(route[-1]),
    }


def sources_of(size: int, count: int) -> list[int]:
    """Return `count` nodes of a network, spread by a fixed stride; all nodes if there are fewer."""
    if size <= count:
        return list(range(size))
    # Knuth's multiplier spreads few sources over the whole network, equal in every run.
    return [(7 + 2654435761 * i) % size for i in range(count)]


def worst_broadcast(network: Topology, algorithm: str, most: int = SOURCES) -> Measured:
    """Return the most steps of a one-port broadcast over some sources, with the worst source.

    If a broadcast is incomplete or sends a wrong number of messages, return its number of
    informed nodes instead.

    Parameters
    ----------
    network : Topology
        The network.
    algorithm : str
        Name of the schedule. Every node except the source has to receive once.
    most : int
        Largest number of tried sources.
    """
    steps, root = -1, 0
    for source in sources_of(network.size, most):
        found = broadcast(Machine(network, "one"), source, algorithm)
        if found.informed != network.size or found.messages != network.size - 1:
            seen = {"informed": found.informed, "messages": found.messages}
            return Measured(f"{found.informed} informed", {"source": source, **seen})
        if found.steps > steps:
            steps, root = found.steps, source
    return Measured(steps, {"source": root})


@claim(
    "STH-B-two-phase",
    relation="all",
    grid=sths("m=2..4, n<=5, every kind, 16 sources", (2, 3, 4), KINDS, range(6)).quick(up_to(128)),
)
def two_phase(topology: str) -> Measured:
    """Broadcast from every source on a one-port machine."""
    found = worst_broadcast(open_topology(topology), "twophase")
    return Measured(isinstance(found.value, int), found.where)

"""Beyond the paper: Hamiltonian cycles, connectivity, collectives, colours (its open questions)."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import numpy as np

from mpinet import measure
from mpinet.claims import Measured, OutOfReach, claim, once, points
from mpinet.machine import Machine
from mpinet.networks import open as open_topology
from mpinet.networks.cycle import cycle_order
from mpinet.papers.hdn.broadcasts import is_even
from mpinet.papers.hdn.grids import (
    FIG10,
    FIG11,
    R1_TO_300,
    Net,
    is_small,
    listed,
    net,
    nodes_of,
    of_r1,
    pairs_of,
    r1,
    size_of,
    within_r1,
)
from mpinet.papers.hdn.runs import MENDED, broadcast_from
from mpinet.papers.measured import distances
from mpinet.programs.exchange import exchange
from mpinet.programs.gossip import gossip

LIFTED = "lifted"
"""The name of cycles by the lifting scheme."""


@claim(
    "HDN-X-hamiltonian",
    place="beyond the paper",
    statement="HDN is Hamiltonian (N >= 4)",
    relation="all",
    grid=points("R1, and the network of Figure 11", lambda: listed([*r1(), FIG10, FIG11])).quick(
        lambda topology: size_of(topology) <= 300
    ),
    cost=nodes_of,
)
def hamiltonian(topology: str) -> Measured:
    """Follow the network's own cycle, or one that the solver finds."""
    found = measure.hamiltonian_cycle(topology)
    return Measured(found is not None and measure.is_hamiltonian_cycle(topology, found))


def is_nested(found: Net) -> bool:
    """Whether each level's super-node contains the next one's."""
    return all(
        set(after) <= set(before)
        for before, after in zip(found.members[:-1], found.members[1:], strict=True)
    )


@claim(
    "HDN-X-hamiltonian-scheme",
    place="beyond the paper",
    statement="for super-nodes each of which contains the next level's, and k = 1, 2, lifting the "
    "cycles of clusters gives a Hamiltonian cycle",
    relation="all",
    grid=within_r1("nested, k = 1, 2", lambda found: is_nested(found) and found.k <= 2),
    cost=nodes_of,
)
def scheme(topology: str) -> Measured:
    """Ask for the cycle by that scheme, and follow it."""
    network = open_topology(topology)
    cycle = network.cycle()
    if cycle is None or cycle.name != LIFTED:
        return Measured(False, {"cycle": cycle.name if cycle else "none"})
    return Measured(measure.is_hamiltonian_cycle(network, cycle_order(network, cycle).tolist()))


connectivity = claim(
    "HDN-X-connectivity",
    place="beyond the paper",
    statement="node connectivity is the degree d_0 + k: no d_0 + k - 1 failures part the network",
    claimed=lambda topology: net(topology).degree + net(topology).k,
    grid=R1_TO_300,
    cost=pairs_of,
    measured=measure.connectivity,
)

RING_OF_8 = "hdn:2,super=-"

REPORTED = {
    2: ("2,super=0",),
    3: ("3,super=0", "K4,super=0"),
    4: ("4,super=0", "2x2,super=0.1", "2x3,super=0.1"),
    5: ("5,super=0", "2x2x2,super=0.1.2"),
    6: ("6,super=0",),
    7: (
        *("3,super=-", "K4,super=-", "4,super=0/0", "2x2,super=0.1/0.1"),
        *("2x2x2,super=0.1", "2x2x2,super=0.2", "2x2x2,super=1.2"),
    ),
    8: (
        *("4,super=-", "2x2,super=-", "2x2,super=0", "2x2,super=1", "2x3,super=1"),
        *("2,super=0/-", "2,super=0/0", "3,super=0/0"),
    ),
}
"""The others of R1 with N <= 32 and degree <= 4, by their diameters after the worst failures."""


@claim(
    "HDN-X-fault-diameter",
    place="beyond the paper",
    statement=f"the ring of 8, {RING_OF_8}, has diameter 6 after the worst failure of degree - 1 "
    "nodes; reported of the other networks hdn:.. of R1 with N <= 32 and degree <= 4: "
    + "; ".join(f"{value} for {', '.join(names)}" for value, names in REPORTED.items()),
    claimed={"ring of 8": 6, "the others as reported": True},
    grid=once("all failures of degree - 1 nodes; R1 with N <= 32 and degree <= 4"),
    cost=lambda: 3000,
)
def fault_diameters() -> Measured:
    """Try all such failures in each of these networks."""
    names = of_r1(lambda found: found.degree + found.k <= 4, 32)
    found = {topology: fault_diameter(topology) for topology in names}
    ring = found.pop(RING_OF_8)
    reported = {f"hdn:{name}": value for value, names in REPORTED.items() for name in names}
    return Measured(
        {
            "ring of 8": ring.value,
            "the others as reported": {name: at.value for name, at in found.items()} == reported,
        },
        {"failed": ring.where["failed"], "others": {name: at.value for name, at in found.items()}},
    )


def fault_diameter(topology: str) -> Measured:
    """The largest diameter after the failure of degree - 1 nodes; N if some leave pieces."""
    faults = net(topology).degree + net(topology).k - 1
    found = measure.fault_diameter(topology, faults)
    parted = found.value == float("inf")
    where = {"failed": found.removed, "tried": found.tested, "in pieces": parted}
    return Measured(size_of(topology) if parted else int(found.value), where)


@claim(
    "HDN-X-gossip",
    place="beyond the paper",
    statement="all-to-all broadcast with one item a message, by rotation along a Hamiltonian "
    "cycle, takes N - 1 one-port steps, which is the lower bound",
    claimed=lambda topology: {"steps": size_of(topology) - 1, "everything arrives": True},
    grid=R1_TO_300,
    cost=pairs_of,
)
def gossip_steps(topology: str) -> dict[str, Any]:
    """Run it on the one-port machine."""
    machine = Machine(topology, "one")
    result = gossip(machine, "cycle")
    return {"steps": machine.steps, "everything arrives": result.correct}


MOST_EXCHANGING = 256
"""Most nodes of a network on which all send to all."""


@claim(
    "HDN-X-total-exchange",
    place="beyond the paper",
    statement="total exchange with one item a message takes at least "
    "max(N-1, ceil(sum of distances / N)) one-port steps",
    relation=">=",
    claimed=lambda topology: max(
        size_of(topology) - 1, -(-int(distances(topology).sum(dtype=np.int64)) // size_of(topology))
    ),
    grid=points("R1", lambda: listed(of_r1())).quick(lambda topology: size_of(topology) <= 50),
    cost=lambda topology: 300 * pairs_of(topology) if size_of(topology) <= 256 else 1,
)
def exchange_steps(topology: str) -> Measured:
    """Run it on the one-port machine, messages being routed by Algorithm 1."""
    if size_of(topology) > MOST_EXCHANGING:
        raise OutOfReach(f"total exchange on {topology} takes minutes: thousands of queued steps")
    machine = Machine(topology, "one")
    result = exchange(machine)
    if not result.correct:
        return Measured(0, {"items": "not all have arrived"})
    return Measured(machine.steps)


@claim(
    "HDN-X-multicast",
    place="beyond the paper",
    statement="multicast to m nodes takes at least max(ceil(log2(m+1)), farthest) one-port steps: "
    "random source and destinations, m = 1, 5, N/2, N-1",
    relation=">=",
    claimed=lambda topology, m: multicast_bound(topology, m),
    grid=points(
        "R1, four m",
        lambda: [
            point | {"m": m}
            for point in listed(of_r1())
            for m in sorted({1, 5, size_of(point["topology"]) // 2, size_of(point["topology"]) - 1})
            if m < size_of(point["topology"])
        ],
    ).quick(lambda topology, m: is_small(topology)),
    cost=lambda topology, m: pairs_of(topology),
)
def multicast_steps(topology: str, m: int) -> Measured:
    """The step in which the last of them is informed by the mended broadcast."""
    source, destinations = drawn(topology, m)
    _, since, _ = broadcast_from(open_topology(topology), source, MENDED)
    last = destinations[int(since[destinations].argmax())]
    return Measured(int(since[last]), {"source": source, "last": int(last)})


def drawn(topology: str, m: int) -> tuple[int, np.ndarray]:
    """A source and m destinations."""
    nodes = np.random.default_rng(m).permutation(size_of(topology))
    return int(nodes[0]), nodes[1 : m + 1]


def multicast_bound(topology: str, m: int) -> int:
    """max(ceil(log2(m+1)), farthest destination)."""
    source, destinations = drawn(topology, m)
    return max(ceil(log2(m + 1)), int(distances(topology)[source, destinations].max()))


@claim(
    "HDN-X-bipartite",
    place="beyond the paper",
    statement="HDN is bipartite if and only if every factor of the base is K2 or an even ring",
    claimed=lambda topology: is_even(net(topology)),
    grid=points("R1", lambda: listed(of_r1())),
    cost=nodes_of,
)
def bipartite(topology: str) -> Measured:
    """Whether no link joins nodes at distances from node 0 that are both even or both odd."""
    parity = measure.distance_matrix(topology, [0])[0] % 2
    ends = measure.edges(topology)
    wrong = np.flatnonzero(parity[ends[:, 0]] == parity[ends[:, 1]])
    where = {"link": ends[wrong[0]].tolist()} if len(wrong) else {}
    return Measured(not len(wrong), where)

"""Vague statements of the text, each tested in its possible readings."""

from __future__ import annotations

import numpy as np

from mpinet import measure
from mpinet.base.arrays import Ints
from mpinet.claims import Measured, claim, points, unsettled
from mpinet.claims.remembered import remembered
from mpinet.machine import Machine
from mpinet.networks.shortest import neighbor_table
from mpinet.papers.gbsn import slowdown
from mpinet.papers.gbsn.embedding import HOSTS, mappings
from mpinet.papers.gbsn.grids import FIGURE_1B, blocks, few, guest_of, hosts, vectors
from mpinet.papers.gbsn.measured import first_ports, links, network, partial_ports
from mpinet.papers.measured import diameter, distances
from mpinet.programs.broadcast import broadcast

UNTESTED = (
    unsettled(
        "GBSN-T1-rows",
        place="Table I",
        statement="numbers of nodes and node degrees of various networks",
        reason="the table's body is missing in the scan; only the published paper has it",
    ),
)

MOST_ROUTED = 80
"""Largest number of nodes of a network whose routes are all followed."""


@claim(
    "GBSN-S4-deadlock",
    relation="all",
    grid=points(
        f"both GBSNs of Fig. 1(b); F, N <= {MOST_ROUTED}",
        [
            *FIGURE_1B.points("full"),
            *few(lambda of: of.size <= MOST_ROUTED).points("full"),
        ],
    ).quick(lambda topology: blocks(topology).size <= 20),
    reading="the paper does not state the channel of a message. The witness shows a cycle of "
    "channels without virtual channels, if one exists, so virtual channels are needed.",
)
def no_cycle(topology: str) -> Measured:
    """Return whether the channels of all routes have no cyclic dependency.

    Channels without successors are removed until none is left or a cycle remains. A virtual channel
    is a channel with the number of shift links that the message has already used.
    """
    table, first = neighbor_table(network(topology)), first_ports(topology)
    shifting, (size, ports) = partial_ports(topology), table.shape
    nodes, goals = (part.ravel().copy() for part in np.indices((size, size)))
    held, shifts = np.full(size * size, -1), np.zeros(size * size, np.int64)
    arcs = []
    for _ in range(size):
        going = np.flatnonzero(nodes != goals)
        if not len(going):
            break
        here = nodes[going]
        port = first[here, goals[going]]
        taken = (shifts[going] * size + here) * ports + port
        arcs.append(np.stack([held[going], taken])[:, held[going] >= 0])
        held[going] = taken
        # Reading of the text's virtual channels: a message changes to the next virtual channel
        # after each shift link.
        shifts[going] += port >= shifting[here]
        nodes[going] = table[here, port]
    cycle = measure.channel_dependency_cycle(topology, "gbsn", classes="none")
    without = [channel[:2] for channel in cycle] if cycle else None
    where = {"virtual channels": int(shifts.max()) + 1, "cycle without them": without}
    return Measured(not has_cycle(np.unique(np.hstack(arcs), axis=1)), where)


def has_cycle(arcs: Ints) -> bool:
    """Return whether arcs, shape (2, k), contain a cycle."""
    # Arcs to channels without successors are removed. The arcs that cannot be removed contain a
    # cycle.
    while arcs.shape[1]:
        left = arcs[:, np.isin(arcs[1], arcs[0])]
        if left.shape == arcs.shape:
            return True
        arcs = left
    return False


THREE = "the GBSN routes in three of the time steps that the BSN needs: "

three_steps = claim(
    "GBSN-S4-three-steps-same",
    statement=THREE + "a link of the BSN(a,b) of the same size takes at most three hops, node x "
    "standing at node x",
    relation="<=",
    claimed=3,
    grid=HOSTS,
    reading="a step is a message over a link, and nodes keep their numbers.",
    measured=lambda topology, a: stretch(topology, guest_of(topology, a)),
    cause="embedding",
    fails_where=(
        "there are three or more blocks",
        lambda topology, a: len(blocks(topology).m) > 2,
    ),
)


def stretch(topology: str, guest: str) -> Measured:
    """Return the largest host distance between the ends of a guest link."""
    ends = np.array(sorted(links(guest)))
    far = distances(topology)[ends[:, 0], ends[:, 1]]
    return Measured(int(far.max()), {"link": ends[int(far.argmax())].tolist(), "of": guest})


@claim(
    "GBSN-S4-three-steps-mapped",
    statement=THREE + "some mapping of the BSN(a,b) of the same size takes its links to at most "
    "three hops each",
    relation="<=",
    claimed=3,
    grid=points(
        "N = 8, k >= 2, a_i maximal, all b, a | b, a <= lg max m; all mappings",
        lambda: hosts([m for m in vectors(8) if len(m) > 1]),
    ),
    reading="a step is a message over a link, and nodes may stand anywhere.",
)
def least_stretch(topology: str, a: int) -> Measured:
    """Return the smallest stretch over all 8! mappings."""
    far, images = distances(topology), mappings(8)
    longest = np.zeros(len(images), np.int64)
    for u, v in sorted(links(guest_of(topology, a))):
        longest = np.maximum(longest, far[images[:, u], images[:, v]])
    best = int(longest.argmin())
    return Measured(int(longest[best]), {"images": images[best].tolist()})


@remembered(most=1024)
def steps_on_bsn(guest: str) -> int:
    """Return the steps of the BSN's one-port broadcast."""
    return broadcast(Machine(network(guest), "one"), 0, "sections").steps


@claim(
    "GBSN-S3-operations",
    relation="<=",
    claimed=lambda topology, a: a,
    grid=slowdown.HOSTS,
    reading="the bound is the slowdown factor's, a (IV). No broadcast takes fewer steps than "
    "its root's farthest node has hops, which bounds the slowdown from below.",
)
def broadcast_slowdown(topology: str, a: int) -> Measured:
    """Return the GBSN's diameter divided by the steps of the BSN's one-port broadcast."""
    own, steps = diameter(topology), steps_on_bsn(guest_of(topology, a))
    where = {"diameter": own.value, "steps in the BSN": steps}
    return Measured(own.value / steps, where | own.where)

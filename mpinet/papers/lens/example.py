"""The example of section 4: from 021.10 to 00.220, in the lens with p = q = 4 and n = 5."""

from __future__ import annotations

from itertools import pairwise

from mpinet import measure
from mpinet.claims import Measured, claim, over
from mpinet.errors import NodeError
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import Topology
from mpinet.papers.lens.measured import pattern_a
from mpinet.papers.lens.words import word
from mpinet.programs.waves import adjacency

EXAMPLE = "lens:4,4,5"

LISTED = ("021.10", "0210.0", "021.20", "02.220", "00.220")
LISTED_A = ("021.10", "0210.0", "021.20", "02.220", "0.1220", "00.220")
"""First listing of the paper."""


def followed(listing: tuple[str, ...], within: Topology) -> Measured:
    """Return the number of a listing's hops that are links, and the distance of its ends."""
    nodes = [open_topology(EXAMPLE).node(address) for address in listing]
    legal = sum(v in within.neighbor(u, range(within.ports)) for u, v in pairwise(nodes))
    hops = int(measure.distance_matrix(within, nodes[:1])[0, nodes[-1]])
    return Measured({"legal hops": legal, "distance": hops})


def has(network: Topology, address: str) -> bool:
    """Return whether a network has a processor with an address."""
    try:
        network.node(address)
    except NodeError:
        return False
    return True


PRINTED_P = claim(
    "LENS-S4-example-p",
    claimed=dict.fromkeys(LISTED, True),
    grid=over("n=5, p=3, q in 3..6", q=range(3, 7)),
    measured=lambda q: {
        address: has(open_topology(f"lens:3,{q},5"), address) for address in LISTED
    },
)

BOTH_PATTERNS = claim(
    "LENS-S4-example-AB",
    claimed={"legal hops": 4, "distance": 4},
    measured=lambda: followed(LISTED, adjacency(open_topology(EXAMPLE))),
)

PATTERN_A = claim(
    "LENS-S4-example-A",
    claimed={"legal hops": 5, "distance": 5},
    measured=lambda: followed(LISTED_A, pattern_a(EXAMPLE)),
)


@claim("LENS-S4-example-region", claimed="01110")
def region() -> str:
    """Return the positions that the dot passes on any shortest path, by floods from both ends."""
    network, within = open_topology(EXAMPLE), pattern_a(EXAMPLE)
    source, target = network.node(LISTED[0]), network.node(LISTED[-1])
    here, there = measure.distance_matrix(within, [source, target])
    least = here[target]
    crossed = set()
    for u in range(network.size):
        for v in within.neighbor(u, range(within.ports)).tolist():
            if v >= 0 and here[u] >= 0 and here[u] + 1 + there[v] == least and there[v] >= 0:
                crossed.add(max(word(network.address(w))[0] for w in (u, v)))
    return "".join(str(int(place in crossed)) for place in range(1, 6))

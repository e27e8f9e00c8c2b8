"""Butterflies, hypercubes and cube-connected cycles (sections 3.1.5 to 3.1.7)."""

from __future__ import annotations

from mpinet import measure
from mpinet.claims import Corrected, Measured, claim, over, section
from mpinet.papers.quinn.measured import (
    bisection,
    diameter,
    most_edges,
    nodes,
    sizes,
)
from mpinet.papers.quinn.wirings import organization

BUTTERFLIES = sizes(1, 7, 5)


BUTTERFLY = (
    claim(
        "QUINN-butterfly-nodes",
        claimed=lambda k: (k + 1) * 2**k,
        grid=BUTTERFLIES,
        measured=nodes("butterfly"),
    ),
    claim(
        "QUINN-butterfly-diameter",
        claimed=lambda k: 2 * k,
        grid=BUTTERFLIES,
        measured=diameter("butterfly"),
    ),
    claim(
        "QUINN-butterfly-bisection",
        claimed=lambda k: 2 ** (k - 1),
        grid=sizes(1, 4, 4),
        measured=bisection("butterfly"),
        corrected=Corrected(
            "QUINN-butterfly-bisection-table",
            claimed=lambda k: 2**k,
            note="For large k it is smaller: at least 0.82 2^k (Bornstein and others, 2004).",
        ),
    ),
)


@claim("QUINN-butterfly-wings", relation="all", grid=sizes(1, 6, 4))
def wings(k: int) -> Measured:
    """Return whether links between each two ranks form butterfly wings, with a counterexample."""
    rows = 2**k
    for node in range(rows, (k + 1) * rows):
        rank, j = divmod(node, rows)
        for other in organization("butterfly", k).neighbors(node):
            m = other % rows
            if other // rows == rank - 1 and other - m + j not in organization(
                "butterfly", k
            ).neighbors(rank * rows + m):
                return Measured(False, {"node": node})
    return Measured(True)


@claim(
    "QUINN-butterfly-combined",
    claimed=4,
    grid=sizes(1, 6, 5),
    fails_where=("k <= 2", lambda k: k <= 2),
    corrected=Corrected("QUINN-butterfly-combined-3", grid=sizes(3, 6, 5)),
)
def combined(k: int) -> Measured:
    """Return a degree other than 4, if any, after merging the first and last ranks."""
    rows = 2**k
    joined: dict[int, set[int]] = {node: set() for node in range(k * rows)}
    for node in range((k + 1) * rows):
        for other in organization("butterfly", k).neighbors(node):
            joined[node % (k * rows)].add(other % (k * rows))
    degrees = {node: len(found - {node}) for node, found in joined.items()}
    # The witness is the first node with a degree other than four, or node 0 if there is none.
    least = min(degrees, key=lambda node: (degrees[node] == 4, node))
    return Measured(degrees[least], {"node": least})


CUBES = sizes(1, 9, 7)

claim_3_1_6 = section(place="3.1.6", grid=CUBES)

HYPERCUBE = (
    claim_3_1_6("QUINN-hypercube-nodes", claimed=lambda k: 2**k, measured=nodes("hypercube")),
    claim_3_1_6("QUINN-hypercube-diameter", claimed=lambda k: k, measured=diameter("hypercube")),
    claim_3_1_6(
        "QUINN-hypercube-bisection",
        claimed=lambda k: 2 ** (k - 1),
        grid=sizes(1, 7, 6),
        measured=bisection("hypercube"),
    ),
    claim_3_1_6(
        "QUINN-hypercube-edges",
        claimed=lambda k: {k: 2**k},
        measured=lambda k: measure.degrees(organization("hypercube", k)),
    ),
)


@claim_3_1_6("QUINN-hypercube-collapsed", relation="all", grid=sizes(1, 6, 5))
def collapsed(k: int) -> bool:
    """Return whether merging the nodes of each column gives the hypercube's links."""
    rows = 2**k
    links = {
        (node % rows, other % rows)
        for node in range((k + 1) * rows)
        for other in organization("butterfly", k).neighbors(node)
        if node % rows != other % rows
    }
    cube = {
        (node, other)
        for node in range(rows)
        for other in organization("hypercube", k).neighbors(node)
    }
    return links == cube


CYCLES = sizes(3, 8, 7)

claim_3_1_7 = section(place="3.1.7", grid=CYCLES)

CONNECTED_CYCLES = (
    claim_3_1_7("QUINN-ccc-nodes", claimed=lambda k: k * 2**k, measured=nodes("ccc")),
    claim_3_1_7(
        "QUINN-ccc-edges",
        claimed=3,
        measured=most_edges("ccc"),
        reading="Cycles have three nodes or more.",
    ),
    claim_3_1_7(
        "QUINN-ccc-diameter",
        claimed=lambda k: 2 * k,
        measured=diameter("ccc"),
        fails_where=("k > 5", lambda k: k > 5),
        corrected=Corrected(
            "QUINN-ccc-diameter-half", claimed=lambda k: max(6, 2 * k + k // 2 - 2)
        ),
    ),
    claim_3_1_7(
        "QUINN-ccc-twice",
        claimed=lambda k: 2 * measure.diameter(f"hypercube:{k}"),
        measured=diameter("ccc"),
        reading="The hypercube has k dimensions.",
        fails_where=("k > 5", lambda k: k > 5),
    ),
    claim_3_1_7(
        "QUINN-ccc-bisection",
        claimed=lambda k: 2 ** (k - 1),
        grid=sizes(3, 5, 4),
        measured=bisection("ccc"),
    ),
    claim_3_1_7(
        "QUINN-ccc-lower",
        relation="<",
        claimed=lambda k: k * 2 ** (k - 1),
        grid=over(k=(4,)),
        measured=bisection("ccc"),
        reading="The hypercube has as many nodes; k is a power of 2.",
    ),
)


@claim_3_1_7("QUINN-ccc-dimensions", relation="all")
def dimensions(k: int) -> bool:
    """Return whether merging the nodes of each cycle gives the hypercube's links."""
    network = organization("ccc", k)
    cycle = {node: int(network.address(node).split(",")[0]) for node in range(network.size)}
    links = {
        (cycle[node], cycle[other])
        for node in range(network.size)
        for other in network.neighbors(node)
        if cycle[node] != cycle[other]
    }
    return links == {(a, a ^ 1 << bit) for a in range(2**k) for bit in range(k)}

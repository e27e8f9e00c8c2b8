"""Butterflies, hypercubes and cube-connected cycles (sections 3.1.5 to 3.1.7)."""

from __future__ import annotations

from mpinet import measure
from mpinet.claims import Corrected, Measured, claim, over
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
        place="3.1.5",
        statement="a butterfly consists of (k + 1) 2^k nodes",
        claimed=lambda k: (k + 1) * 2**k,
        grid=BUTTERFLIES,
        measured=nodes("butterfly"),
    ),
    claim(
        "QUINN-butterfly-diameter",
        place="3.1.5",
        statement="the diameter of a butterfly with (k + 1) 2^k nodes is 2k",
        claimed=lambda k: 2 * k,
        grid=BUTTERFLIES,
        measured=diameter("butterfly"),
    ),
    claim(
        "QUINN-butterfly-bisection",
        place="3.1.5",
        statement="its bisection width is 2^(k-1)",
        claimed=lambda k: 2 ** (k - 1),
        grid=sizes(1, 4, 4),
        measured=bisection("butterfly"),
        cause="butterfly-width",
        corrected=Corrected(
            "QUINN-butterfly-bisection-table",
            "it is 2^k, as the book's table has it, for k of at most 4",
            claimed=lambda k: 2**k,
            note="For large k it is smaller: at least 0.82 2^k (Bornstein and others, 2004).",
        ),
    ),
)


@claim(
    "QUINN-butterfly-wings",
    place="3.1.5",
    statement="if (i,j) is connected to (i-1,m), then (i,m) is connected to (i-1,j)",
    relation="all",
    grid=sizes(1, 6, 4),
)
def wings(k: int) -> Measured:
    """Look at all links between two ranks."""
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
    place="3.1.5",
    statement="where the ranks 0 and k are combined, each node has four connections",
    claimed=4,
    grid=sizes(1, 6, 5),
    cause="combined-ranks",
    fails_where=("k <= 2", lambda k: k <= 2),
    corrected=Corrected(
        "QUINN-butterfly-combined-3",
        "from k = 3 on each node has four other nodes that it is connected to",
        grid=sizes(3, 6, 5),
    ),
)
def combined(k: int) -> Measured:
    """Count the neighbours of each node where the last rank is the first one."""
    rows = 2**k
    joined: dict[int, set[int]] = {node: set() for node in range(k * rows)}
    for node in range((k + 1) * rows):
        for other in organization("butterfly", k).neighbors(node):
            joined[node % (k * rows)].add(other % (k * rows))
    degrees = {node: len(found - {node}) for node, found in joined.items()}
    least = min(degrees, key=lambda node: (degrees[node] == 4, node))
    return Measured(degrees[least], {"node": least})


CUBES = sizes(1, 9, 7)

HYPERCUBE = (
    claim(
        "QUINN-hypercube-nodes",
        place="3.1.6",
        statement="a hypercube of k dimensions consists of 2^k nodes",
        claimed=lambda k: 2**k,
        grid=CUBES,
        measured=nodes("hypercube"),
    ),
    claim(
        "QUINN-hypercube-diameter",
        place="3.1.6",
        statement="the diameter of a hypercube with 2^k nodes is k",
        claimed=lambda k: k,
        grid=CUBES,
        measured=diameter("hypercube"),
    ),
    claim(
        "QUINN-hypercube-bisection",
        place="3.1.6",
        statement="its bisection width is 2^(k-1)",
        claimed=lambda k: 2 ** (k - 1),
        grid=sizes(1, 7, 6),
        measured=bisection("hypercube"),
    ),
    claim(
        "QUINN-hypercube-edges",
        place="3.1.6",
        statement="the number of edges per node is k",
        claimed=lambda k: {k: 2**k},
        grid=CUBES,
        measured=lambda k: measure.degrees(organization("hypercube", k)),
    ),
)


@claim(
    "QUINN-hypercube-collapsed",
    place="3.1.6",
    statement="a cube-connected network is a butterfly with its columns collapsed into nodes",
    relation="all",
    grid=sizes(1, 6, 5),
)
def collapsed(k: int) -> bool:
    """Join the nodes of each column, and compare with the hypercube's links."""
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

CONNECTED_CYCLES = (
    claim(
        "QUINN-ccc-nodes",
        place="3.1.7",
        statement="cube-connected cycles of k dimensions have k 2^k nodes",
        claimed=lambda k: k * 2**k,
        grid=CYCLES,
        measured=nodes("ccc"),
    ),
    claim(
        "QUINN-ccc-edges",
        place="3.1.7",
        statement="the number of edges per node is three",
        claimed=3,
        grid=CYCLES,
        measured=most_edges("ccc"),
        reading="Cycles have three nodes or more.",
    ),
    claim(
        "QUINN-ccc-diameter",
        place="3.1.7",
        statement="given a size of k 2^k, the diameter is 2k",
        claimed=lambda k: 2 * k,
        grid=CYCLES,
        measured=diameter("ccc"),
        cause="cycles",
        fails_where=("k > 5", lambda k: k > 5),
        corrected=Corrected(
            "QUINN-ccc-diameter-half",
            "the diameter is 6 for k = 3, and 2k + floor(k/2) - 2 from k = 4 on",
            claimed=lambda k: max(6, 2 * k + k // 2 - 2),
        ),
    ),
    claim(
        "QUINN-ccc-twice",
        place="3.1.7",
        statement="the network diameter is twice that of a hypercube",
        claimed=lambda k: 2 * measure.diameter(f"hypercube:{k}"),
        grid=CYCLES,
        measured=diameter("ccc"),
        reading="The hypercube is that of k dimensions.",
        cause="cycles",
        fails_where=("k > 5", lambda k: k > 5),
    ),
    claim(
        "QUINN-ccc-bisection",
        place="3.1.7",
        statement="its bisection width is 2^(k-1)",
        claimed=lambda k: 2 ** (k - 1),
        grid=sizes(3, 5, 4),
        measured=bisection("ccc"),
    ),
    claim(
        "QUINN-ccc-lower",
        place="3.1.7",
        statement="the bisection width is lower than a hypercube's",
        relation="<",
        claimed=lambda k: k * 2 ** (k - 1),
        grid=over(k=(4,)),
        measured=bisection("ccc"),
        reading="The hypercube has as many nodes; k is a power of 2.",
    ),
)


@claim(
    "QUINN-ccc-dimensions",
    place="3.1.7",
    statement="for each dimension, every cycle has a node connected to a node in the neighboring "
    "cycle in that dimension",
    relation="all",
    grid=CYCLES,
)
def dimensions(k: int) -> bool:
    """Join the nodes of each cycle, and compare with the hypercube's links."""
    network = organization("ccc", k)
    cycle = {node: int(network.address(node).split(",")[0]) for node in range(network.size)}
    links = {
        (cycle[node], cycle[other])
        for node in range(network.size)
        for other in network.neighbors(node)
        if cycle[node] != cycle[other]
    }
    return links == {(a, a ^ 1 << bit) for a in range(2**k) for bit in range(k)}

"""Meshes, trees, hypertrees and pyramids (sections 3.1.1 to 3.1.4)."""

from __future__ import annotations

from mpinet import measure
from mpinet.claims import Corrected, Measured, PointGrid, over, section
from mpinet.networks.catalogue import open_topology
from mpinet.papers.quinn.measured import (
    bisection,
    diameter,
    most_edges,
    nodes,
    sizes,
)
from mpinet.papers.quinn.wirings import organization

MESHES = over(
    "q = 1, 2, 3; k in 2..6",
    q=(1, 2, 3),
    k=range(2, 7),
).quick(lambda q, k: k**q <= 64)
"""Meshes of k^q nodes."""

EVEN = over("q = 1, 2, 3; k = 2, 4, 6", q=(1, 2, 3), k=(2, 4, 6)).quick(lambda q, k: k**q <= 64)
LARGE = over("q = 1, 2, 3; k in 3..6", q=(1, 2, 3), k=range(3, 7)).quick(lambda q, k: k**q <= 64)


def mesh(q: int, k: int) -> str:
    """Return the topology string of a mesh of k^q nodes."""
    return "mesh:" + "x".join([str(k)] * q)


def is_odd(q: int, k: int) -> bool:
    """Return whether a mesh of more than one dimension has odd sides."""
    return k % 2 == 1 and q > 1


claim_3_1_1 = section(place="3.1.1", grid=MESHES)

MESH = (
    claim_3_1_1(
        "QUINN-mesh-diameter",
        claimed=lambda q, k: q * (k - 1),
        measured=lambda q, k: measure.diameter(mesh(q, k)),
    ),
    claim_3_1_1(
        "QUINN-mesh-bisection",
        claimed=lambda q, k: k ** (q - 1),
        measured=lambda q, k: measure.bisection_width(mesh(q, k)),
        fails_where=("k is odd and q > 1", is_odd),
        corrected=Corrected(
            "QUINN-mesh-bisection-all",
            claimed=lambda q, k: (k**q - 1) // (k - 1) if k % 2 else k ** (q - 1),
        ),
    ),
    claim_3_1_1(
        "QUINN-mesh-most-edges",
        claimed=lambda q, k: 2 * q,
        measured=lambda q, k: max(measure.degrees(mesh(q, k))),
        fails_where=("k = 2", lambda q, k: k == 2),
        corrected=Corrected("QUINN-mesh-most-edges-3", claimed=lambda q, k: 2 * q if k > 2 else q),
    ),
)


@claim_3_1_1("QUINN-mesh-interior", relation="all", grid=LARGE)
def interior(q: int, k: int) -> Measured:
    """Return the number of neighbours of interior nodes of the mesh."""
    network = open_topology(mesh(q, k))
    for node in range(network.size):
        place = [node // k**axis % k for axis in range(q)]
        inside = min(place) > 0 and max(place) < k - 1
        if inside and len(network.neighbors(node)) != 2 * q:
            return Measured(False, {"node": node})
    return Measured(True)


TREES = sizes(2, 8, 6)

claim_3_1_2 = section(place="3.1.2", grid=TREES)

TREE = (
    claim_3_1_2("QUINN-tree-nodes", claimed=lambda k: 2**k - 1, measured=nodes("binary tree")),
    claim_3_1_2("QUINN-tree-links", relation="<=", claimed=3, measured=most_edges("binary tree")),
    claim_3_1_2(
        "QUINN-tree-diameter", claimed=lambda k: 2 * (k - 1), measured=diameter("binary tree")
    ),
    claim_3_1_2("QUINN-tree-bisection", claimed=1, measured=bisection("binary tree")),
)

HYPERTREES = over(k=(1, 2, 3, 4)).quick(lambda k: k <= 3)

claim_3_1_3 = section(place="3.1.3", grid=HYPERTREES)

HYPERTREE = (
    claim_3_1_3(
        "QUINN-hypertree-nodes",
        claimed=lambda k: 2**k * (2 ** (k + 1) - 1),
        measured=nodes("hypertree"),
    ),
    claim_3_1_3(
        "QUINN-hypertree-leaves",
        claimed=lambda k: 4**k,
        measured=lambda k: measure.degrees(organization("hypertree", k))[2],
    ),
    claim_3_1_3(
        "QUINN-hypertree-diameter", claimed=lambda k: 2 * k, measured=diameter("hypertree")
    ),
    claim_3_1_3(
        "QUINN-hypertree-bisection",
        claimed=lambda k: 2 ** (k + 1),
        grid=over(k=(1, 2)),
        measured=bisection("hypertree"),
    ),
    claim_3_1_3(
        "QUINN-hypertree-edges", relation="<=", claimed=6, measured=most_edges("hypertree")
    ),
)

PYRAMIDS = over("log k in 1..4", k=(1, 2, 3, 4)).quick(lambda k: k <= 3)
"""Pyramids of size k^2, by the logarithm of k."""

LARGER: PointGrid = over("log k in 2..4", k=(2, 3, 4)).quick(lambda k: k <= 3)

claim_3_1_4 = section(place="3.1.4", grid=PYRAMIDS, note="The point is log k.")

PYRAMID = (
    claim_3_1_4(
        "QUINN-pyramid-nodes", claimed=lambda k: (4 * 4**k - 1) // 3, measured=nodes("pyramid")
    ),
    claim_3_1_4("QUINN-pyramid-diameter", claimed=lambda k: 2 * k, measured=diameter("pyramid")),
    claim_3_1_4(
        "QUINN-pyramid-bisection",
        claimed=lambda k: 2 * 2**k,
        grid=over("log k in 1..3", k=(1, 2, 3)),
        measured=bisection("pyramid"),
    ),
    claim_3_1_4("QUINN-pyramid-edges", relation="<=", claimed=9, measured=most_edges("pyramid")),
    claim_3_1_4(
        "QUINN-pyramid-shorter",
        relation="<",
        claimed=lambda k: 2 * (2**k - 1),
        measured=diameter("pyramid"),
        fails_where=("k = 2", lambda k: k == 1),
        corrected=Corrected(
            "QUINN-pyramid-shorter-4", relation="<", grid=LARGER, note="The point is log k."
        ),
    ),
    claim_3_1_4(
        "QUINN-pyramid-wider",
        relation="<=",
        claimed=lambda k: 2 * 2**k,
        grid=over("log k in 1..3", k=(1, 2, 3)),
        measured=bisection("pyramid"),
        reading="Significantly is read as a factor of more than 2: the mesh has k.",
    ),
)


@claim_3_1_4(
    "QUINN-pyramid-interior",
    relation="all",
    grid=over("log k = 3, 4", k=(3, 4)).quick(lambda k: k == 3),
    note="The point is log k. No smaller pyramid has an interior processor.",
    reading="Interior processors are neither at the base, nor the apex, nor at a side of a level.",
)
def pyramid_interior(k: int) -> Measured:
    """Return whether interior processors have the stated neighbours, counted by level."""
    network = organization("pyramid", k)
    places = [
        tuple(map(int, network.address(node)[1:-1].split(","))) for node in range(network.size)
    ]
    for node, (level, row, column) in enumerate(places):
        side = 2 ** (k - level)
        if 0 < level < k and min(row, column) > 0 and max(row, column) < side - 1:
            levels = [places[other][0] - level for other in network.neighbors(node)]
            # Levels count from the base, so children are at -1 and the parent is at +1.
            if sorted(levels) != [-1] * 4 + [0] * 4 + [1]:
                return Measured(False, {"node": node})
    return Measured(True)

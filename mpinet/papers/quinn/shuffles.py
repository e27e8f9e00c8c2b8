"""Shuffle-exchange and de Bruijn networks, and the summary (sections 3.1.8 to 3.1.10)."""

from __future__ import annotations

from fractions import Fraction

import networkx

from mpinet import measure
from mpinet.claims import Corrected, Measured, claim, over, section, unsettled
from mpinet.papers.quinn.measured import bisection, diameter, most_edges, nodes, sizes
from mpinet.papers.quinn.wirings import organization

SHUFFLES = sizes(2, 9, 7)


def shuffled(node: int, k: int) -> int:
    """The node behind the shuffle connection: twice its number modulo n - 1, n - 1 of itself."""
    # Section 3.1.8 shuffles modulo n - 1, which would map the last node to 0 instead of itself.
    last = 2**k - 1
    return node if node == last else 2 * node % last


def necklaces(k: int) -> list[set[int]]:
    """Return the necklaces of the shuffle-exchange network, sorted by their lowest nodes."""
    found: list[set[int]] = []
    for start in range(2**k):
        if not any(start in necklace for necklace in found):
            necklace, node = {start}, shuffled(start, k)
            while node != start:
                necklace.add(node)
                node = shuffled(node, k)
            found.append(necklace)
    return found


def as_printed(k: int) -> networkx.DiGraph:
    """Return the shuffle-exchange network with directed links, as defined in the book."""
    graph = networkx.DiGraph()
    for node in range(2**k):
        graph.add_edge(node, shuffled(node, k))
        graph.add_edge(node, node ^ 1)
    return graph


claim_3_1_8 = section(place="3.1.8", grid=SHUFFLES)


@claim_3_1_8("QUINN-shuffle-wiring", relation="all")
def wiring(k: int) -> Measured:
    """Return whether definition by numbers, rotated addresses and network agree."""
    for node in range(2**k):
        bits = f"{node:0{k}b}"
        if shuffled(node, k) != int(bits[1:] + bits[0], 2):
            return Measured(False, {"node": node})
    links = {frozenset(arc) for arc in as_printed(k).edges if arc[0] != arc[1]}
    there = {frozenset(link) for link in measure.edges(organization("shuffleexchange", k)).tolist()}
    return Measured(links == there)


@claim_3_1_8("QUINN-shuffle-back", relation="all")
def back(k: int) -> Measured:
    """Return whether every datum is back at its node after k shuffles."""
    for start in range(2**k):
        node = start
        for _ in range(k):
            node = shuffled(node, k)
        if node != start:
            return Measured(False, {"node": start})
    return Measured(True)


SHUFFLE = (
    claim_3_1_8("QUINN-shuffle-nodes", claimed=lambda k: 2**k, measured=nodes("shuffleexchange")),
    claim_3_1_8(
        "QUINN-shuffle-necklaces",
        relation="<=",
        claimed=lambda k: k,
        measured=lambda k: max(map(len, necklaces(k))),
    ),
    claim_3_1_8(
        "QUINN-shuffle-links",
        claimed={"out": [2], "in": [2]},
        grid=sizes(2, 9, 7),
        measured=lambda k: {
            "out": sorted({degree for _, degree in as_printed(k).out_degree}),
            "in": sorted({degree for _, degree in as_printed(k).in_degree}),
        },
        reading="The links of nodes that are connected to themselves count.",
    ),
    claim_3_1_8(
        "QUINN-shuffle-diameter",
        claimed=lambda k: 2 * k - 1,
        measured=diameter("shuffleexchange"),
        reading="Links are passed in both directions.",
    ),
    claim_3_1_8(
        "QUINN-shuffle-diameter-directed",
        claimed=lambda k: 2 * k - 1,
        measured=lambda k: networkx.diameter(as_printed(k)),
        reading="Links are passed in the direction of the shuffle.",
    ),
    claim_3_1_8(
        "QUINN-shuffle-bisection",
        relation=">=",
        claimed=lambda k: 2 ** (k - 1) / k,
        grid=sizes(2, 7, 6),
        measured=bisection("shuffleexchange"),
    ),
)


claim_3_1_9 = section(place="3.1.9", grid=SHUFFLES)


@claim_3_1_9("QUINN-de-bruijn-wiring", relation="all")
def de_bruijn_wiring(k: int) -> bool:
    """Return whether the links of the network are those of shifted addresses."""
    links = {
        frozenset((node, int(f"{node:0{k}b}"[1:] + bit, 2))) for node in range(2**k) for bit in "01"
    }
    there = {frozenset(link) for link in measure.edges(organization("debruijn", k)).tolist()}
    return {link for link in links if len(link) == 2} == there


DE_BRUIJN = (
    claim_3_1_9("QUINN-de-bruijn-nodes", claimed=lambda k: 2**k, measured=nodes("debruijn")),
    claim_3_1_9("QUINN-de-bruijn-diameter", claimed=lambda k: k, measured=diameter("debruijn")),
    claim_3_1_9(
        "QUINN-de-bruijn-half",
        relation="in",
        claimed=lambda k: [measure.diameter(f"shuffleexchange:{k}") // 2 + more for more in (0, 1)],
        measured=diameter("debruijn"),
        reading="About half is read as half, rounded up or down.",
    ),
    claim_3_1_9(
        "QUINN-de-bruijn-bisection",
        relation="<=",
        claimed=lambda k: int(Fraction(2**k, k).__ceil__()),
        grid=sizes(2, 6, 6),
        measured=bisection("debruijn"),
        reading="2^k/k is no whole number for most k: the width is at most that, rounded up.",
        fails_where=("k = 2 or k > 3", lambda k: k != 3),
        corrected=Corrected(
            "QUINN-de-bruijn-bisection-bounds",
            relation="in",
            claimed=lambda k: list(range(2**k // k + 1, 2 * 2**k // k + 1)),
        ),
    ),
    claim_3_1_9("QUINN-de-bruijn-edges", relation="<=", claimed=4, measured=most_edges("debruijn")),
)

KINDS = (
    "binary tree", "hypertree", "pyramid", "butterfly", "hypercube", "ccc", "shuffleexchange",
    "debruijn",
)  # fmt: skip
"""Organizations of the summary except the mesh, by their names here."""


@claim(
    "QUINN-summary-constant",
    claimed=["hypercube"],
    grid=over(k=(3, 4)),
    reading="The largest number of edges per node is compared from k on; smaller networks may have "
    "fewer.",
)
def increasing(k: int) -> list[str]:
    """Return the organizations whose largest number of edges per node increases with size."""
    return [
        kind
        for kind in KINDS
        if most_edges(kind)(k + 1) > most_edges(kind)(k) and kind != "pyramid"
    ] + (["pyramid"] if most_edges("pyramid")(5) > most_edges("pyramid")(3) else [])


edge_length = unsettled(
    "QUINN-summary-edge-length",
    place="3.1.10",
    statement="of the nine organizations, only the mesh has constant edge length",
    reason="The length of edges depends on a layout in three dimensions, which the emulator has "
    "not.",
)

NEWS = (
    claim(
        "QUINN-news-embedding",
        relation="all",
        grid=over("k in 1..7, all j <= k", k=range(1, 8), j=lambda k: range(1, k + 1)),
        measured=lambda k, j: embedded(k, j),
        reading="Meshes of 2^k nodes whose sides are powers of 2, each link on a link.",
    ),
    claim(
        "QUINN-news-processors",
        claimed=12,
        measured=lambda: (65536 // 16).bit_length() - 1,
        measures=False,
    ),
)


def embedded(k: int, j: int) -> Measured:
    """Return whether a mesh placed by a Gray code per dimension has its links in the cube."""
    bits = [k // j + (axis < k % j) for axis in range(j)]
    mesh = networkx.grid_graph([2**width for width in bits])
    images = {}
    for node in mesh:
        place = node if isinstance(node, tuple) else (node,)
        image = 0
        for width, at in zip(reversed(bits), place, strict=True):
            image = image << width | at ^ at >> 1
        images[node] = image
    far = [link for link in mesh.edges if (images[link[0]] ^ images[link[1]]).bit_count() != 1]
    distinct = len(set(images.values())) == 2**k
    return Measured(distinct and not far, {"links": mesh.number_of_edges()})

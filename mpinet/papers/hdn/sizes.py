"""Numbers of nodes and degrees (Section 3: Table 1, the recurrence, Theorem 1)."""

from __future__ import annotations

from math import prod

from mpinet.claims import Claim, Corrected, Measured, claim, once, points
from mpinet.papers.hdn.grids import (
    R1,
    TORUS,
    covers_base,
    listed,
    net,
    nets_over,
    nodes_of,
    r1,
    size_of,
    sized,
    swept_of,
    table_1,
)
from mpinet.papers.hdn.measured import degree
from mpinet.papers.sweeps import reached

SIZES = (1, 2, 3, 5, 6, 10, 15, 30)
"""Super-node sizes of Table 1."""

PRINTED_K1 = (1800, 900, 600, 360, 300, 180, 120, 60)

PRINTED_K2 = {
    1: (6480000, 3240000, 2160000, 1296000, 1080000, 648000, 432000, 216000),
    2: (1620000, 810000, 540000, 324000, 270000, 162000, 108000, 54000),
    3: (720000, 360000, 240000, 144000, 120000, 72000, 48000, 24000),
    5: (259200, 129600, 86400, 51840, 43200, 25920, 17280, 8640),
    6: (180000, 90000, 60000, 36000, 30000, 18000, 12000, 6000),
    10: (64800, 32400, 21600, 12960, 10800, 6480, 4320, 2160),
    15: (28800, 14400, 9600, 5760, 4800, 2880, 1920, 960),
    30: (7200, 3600, 2400, 1440, 1200, 720, 480, 240),
}
"""Table 1, row by row."""

TABLE_1 = points("Table 1", lambda: listed(table_1()))


def cells(sizes: tuple[int, ...]) -> dict[str, int]:
    """Return a row of Table 1."""
    return {f"{size}": nodes for size, nodes in zip(SIZES, sizes, strict=True)}


def row(first: tuple[int, ...]) -> dict[str, int]:
    """Return the measured row: nodes reached from node 0, by the last level's super-node size."""
    return {f"{size}": reached(sized((*first, size))) for size in SIZES}


one_level = claim(
    "HDN-Tab1-k1", claimed=cells(PRINTED_K1), grid=once("B = C2xC3xC5"), measured=lambda: row(())
)


def two_levels(s1: int) -> Claim:
    """Return the claim of a row of Table 1 for k = 2."""
    return claim(
        f"HDN-Tab1-k2-s{s1}",
        place=f"Table 1, k=2, row s1={s1}",
        statement=f"nodes of HDN(B,2,({s1},s_2)) over the 2x3x5 torus for s_2 = 1, 2, 3, 5, 6, "
        "10, 15, 30",
        claimed=cells(PRINTED_K2[s1]),
        grid=once("B = C2xC3xC5"),
        cost=lambda: sum(PRINTED_K2[s1]) / 3000,
        measured=lambda: row((s1,)),
    )


ROWS = [two_levels(s1) for s1 in SIZES]


@claim(
    "HDN-S3-range",
    relation="all",
    grid=once("Table 1"),
    cost=lambda: 8000,
    reading="several hundreds are at least 200, several millions at least 2 million.",
)
def extremes() -> Measured:
    """Return whether the extreme numbers of nodes enclose the range, with both networks."""
    nodes = {topology: reached(topology) for topology in table_1()}
    least, most = min(nodes, key=nodes.__getitem__), max(nodes, key=nodes.__getitem__)
    where = {"smallest": [least, nodes[least]], "largest": [most, nodes[most]]}
    return Measured(nodes[least] <= 200 and nodes[most] >= 2 * 10**6, where)


recurrence = claim(
    "HDN-S3-recurrence-N",
    claimed=size_of,
    grid=points("R1, Table 1", lambda: listed([*r1(), *table_1()])).quick(
        lambda topology: size_of(topology) <= 150000
    ),
    cost=swept_of,
    measured=reached,
)


def closed_form(topology: str) -> int:
    """Return the printed number of nodes: (2 N_0)^(2^k) / (2 s_1 .. s_k)."""
    found = net(topology)
    divisor = 2
    for level in range(1, found.k + 1):
        divisor *= found.s(level)
    return (2 * found.nodes(0)) ** (2**found.k) // divisor


def has_inner_supernode(topology: str) -> bool:
    """Return whether a level below the highest has a super-node of more than one node."""
    found = net(topology)
    return any(found.s(level) > 1 for level in range(1, found.k))


INNER = ("some SN^i, i < k, has more than one node", has_inner_supernode)


def node_count(topology: str) -> int:
    """Return the correct number of nodes: (2 N_0)^(2^k) / (2 s_1^(2^(k-1)) .. s_k)."""
    found = net(topology)
    divisor = 2 * prod(found.s(i) ** 2 ** (found.k - i) for i in range(1, found.k + 1))
    return (2 * found.nodes(0)) ** (2**found.k) // divisor


ALL_S = points(
    "all S",
    lambda: [p for k in (1, 2) for p in listed([*nets_over(TORUS, k, 10**8)])],
).quick(lambda topology: size_of(topology) <= 20000)

LINKS = "a degree counts links: a side of two nodes has two links, as every ring has."


def degree_with_double_links(topology: str) -> object:
    """Return the degree if both directions of a ring of two nodes are links of their own."""
    found = degree(topology)
    return found + net(topology).base.count(("C", 2)) if isinstance(found, int) else found


THEOREM_1 = (
    claim(
        "HDN-Th1-nodes",
        place="Theorem 1, abstract",
        claimed=closed_form,
        grid=R1,
        cost=nodes_of,
        measured=reached,
        degenerate=covers_base,
        fails_where=INNER,
        corrected=Corrected("HDN-C-nodes", claimed=node_count),
    ),
    claim(
        "HDN-Th1-degree",
        claimed=lambda topology: net(topology).degree + net(topology).k,
        grid=R1,
        cost=nodes_of,
        measured=degree,
    ),
    claim(
        "HDN-S3-degree-235-links",
        claimed=lambda topology: 6 + net(topology).k,
        grid=ALL_S,
        cost=swept_of,
        reading=LINKS,
        measured=degree_with_double_links,
    ),
    claim(
        "HDN-S3-degree-235",
        claimed=lambda topology: 6 + net(topology).k,
        grid=ALL_S,
        cost=swept_of,
        reading="a degree counts different neighbours.",
        measured=degree,
        corrected=Corrected("HDN-C-degree-235", claimed=lambda topology: 5 + net(topology).k),
    ),
)

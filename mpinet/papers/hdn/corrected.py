"""Statements of the paper as they hold, each measured where the refuted one was."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

from mpinet import measure
from mpinet.claims import Measured, claim
from mpinet.papers.hdn import (
    bisection,
    broadcasts,
    comparison,
    diameter,
    example,
    figures,
    ratio,
    sizes,
)
from mpinet.papers.hdn.beyond import contains_next
from mpinet.papers.hdn.grids import (
    FIG11,
    covers_base,
    net,
    nodes_of,
    number_in,
    pairs_of,
    sized,
    swept_of,
)
from mpinet.papers.hdn.measured import degree
from mpinet.papers.hdn.measured import diameter as measured_diameter
from mpinet.papers.hdn.runs import PRINTED, runs
from mpinet.papers.hdn.sweeps import reached
from mpinet.papers.measured import alike

PLACE = "as it holds"

symmetric = claim(
    "HDN-C-symmetric",
    place=PLACE,
    corrects="HDN-S1-symmetric",
    statement="all nodes of HDN(B,k,S) have the same number of nodes at each distance if and only "
    "if each level's super-node contains the next one's",
    claimed=lambda topology: contains_next(net(topology)),
    grid=figures.symmetric.grid,
    cost=nodes_of,
    measured=lambda topology: Measured(bool((found := alike(topology)).value), found.where),
)


@claim(
    "HDN-C-range",
    place=PLACE,
    corrects="HDN-S3-range",
    statement="the networks of Table 1 have from 60 to 6,480,000 nodes",
    claimed={"smallest": 60, "largest": 6480000},
    grid=sizes.extremes.grid,
    cost=lambda: 8000,
)
def spread() -> dict[str, int]:
    """The numbers of nodes that node 0 reaches."""
    where = sizes.extremes.measurement().where
    return {name: where[name][1] for name in ("smallest", "largest")}


def node_count(topology: str) -> int:
    """(2 N_0)^(2^k) / (2 s_1^(2^(k-1)) .. s_k): each level's size counts in all levels above."""
    found = net(topology)
    divisor = 2 * prod(found.s(i) ** 2 ** (found.k - i) for i in range(1, found.k + 1))
    return (2 * found.nodes(0)) ** (2**found.k) // divisor


nodes = claim(
    "HDN-C-nodes",
    place=PLACE,
    corrects="HDN-Th1-nodes",
    statement="HDN(B,k,S) has (2 N_0)^(2^k) / (2 s_1^(2^(k-1)) s_2^(2^(k-2)) .. s_k) nodes",
    claimed=node_count,
    grid=sizes.THEOREM_1[0].grid,
    cost=nodes_of,
    measured=reached,
)

degree_of_torus = claim(
    "HDN-C-degree-235",
    place=PLACE,
    corrects="HDN-S3-degree-235",
    statement="over the 2x3x5 torus, whose nodes have 5 different neighbours, the degree is 5 + k",
    claimed=lambda topology: 5 + net(topology).k,
    grid=sizes.THEOREM_1[2].grid,
    cost=swept_of,
    measured=degree,
)

degrees_of_table_3 = claim(
    "HDN-C-Tab3-d",
    place=PLACE,
    corrects="HDN-Tab3-d",
    statement="the degrees of the six HDNs of Table 3 are 6, 6, 6, 7, 7, 7",
    claimed={",".join(map(str, row.sizes)): 5 + len(row.sizes) for row in ratio.ROWS},
    grid=comparison.degrees.grid,
    cost=lambda: 500,
    measured=comparison.degrees.measurement,
)


def hops(topology: str) -> int:
    """Theorem 1's value, less 2^(k-1) where SN^1 = B."""
    found = net(topology)
    return found.closed_form(found.diameter) - (2 ** (found.k - 1) if covers_base(topology) else 0)


DIAMETERS = (
    claim(
        "HDN-C-diameter",
        place=PLACE,
        corrects="HDN-Th1-diameter",
        statement="the diameter is Theorem 1's value, less 2^(k-1) where SN^1 = B",
        claimed=hops,
        grid=diameter.diameter_by_theorem_1.grid,
        cost=lambda topology: min(pairs_of(topology), 300),
        measured=measured_diameter,
    ),
    claim(
        "HDN-C-diameter-table-2",
        place=PLACE,
        corrects="HDN-Tab2-hdn-diameter",
        statement="with the brackets of Theorem 1, and 2^(k-1) less where SN^1 = B, Table 2's "
        "formula gives the diameter",
        claimed=lambda topology: {"D": hops(topology)},
        grid=diameter.diameter_by_table_2.grid,
        cost=pairs_of,
        measured=lambda topology: {"D": measured_diameter(topology).value},
    ),
    claim(
        "HDN-C-diameter-recurrence",
        place=PLACE,
        corrects="HDN-S3-diameter-recurrence",
        statement="D_i - 2 D_{i-1} = 2 - D(SN^i), less 1 where i = 1 and SN^1 = B, both diameters "
        "measured",
        claimed=lambda topology: (
            2
            - net(topology).diameter(net(topology).members[-1])
            - int(diameter.is_doubled(topology))
        ),
        grid=diameter.recurrence.grid,
        cost=pairs_of,
        measured=diameter.recurrence.measurement,
    ),
    claim(
        "HDN-C-quotient-diameter",
        place=PLACE,
        corrects="HDN-S3-quotient-diameter",
        statement="making each super-node of HDN(B,i-1,S) a single node lessens the diameter by at "
        "least that of the super-node",
        relation=">=",
        claimed=diameter.quotient_diameter.claimed,
        grid=diameter.quotient_diameter.grid,
        measured=diameter.quotient_diameter.measurement,
    ),
)

width = claim(
    "HDN-C-bisection",
    place=PLACE,
    corrects="HDN-S3-bisection",
    statement="where n_k is even, the bisection width is at most N/4: a cut between whole clusters "
    "parts so many links",
    relation="<=",
    claimed=bisection.quarter,
    grid=bisection.width.grid,
    cost=nodes_of,
    measured=lambda topology: bisection.aligned.measurement(topology, 0),
)


@claim(
    "HDN-C-cr-monotone",
    place=PLACE,
    corrects="HDN-S3-cr-monotone",
    statement="the cost ratio, w = 1/2, with measured nodes and diameters and the paper's degree, "
    "does not fall when an s_i grows and the others stay, unless SN^1 becomes the whole base",
    relation="all",
    grid=ratio.monotone.grid,
    cost=ratio.monotone.cost,
)
def monotone_below_base(s: tuple[int, ...], larger: tuple[int, ...]) -> bool:
    """Compare the cost ratios where SN^1 does not become B."""
    return ratio.covers_at_last(s, larger) or bool(
        ratio.ratio_of(sized(s)) <= ratio.ratio_of(sized(larger))
    )


def floored(topology: str) -> dict[str, int]:
    """Table 2's row of the 3D torus: sides of two nodes are single links, halves rounded down."""
    sides = comparison.sides(topology)
    return {
        "n": prod(sides),
        "d": sum(1 if side == 2 else 2 for side in sides),
        "D": sum(side // 2 for side in sides),
    }


def of_ccc(topology: str) -> dict[str, int]:
    """2n + floor(n/2) - 2, 6 for n = 3."""
    n = number_in(topology)
    return {"n": n * 2**n, "d": 3, "D": 2 * n + n // 2 - 2 if n > 3 else 6}


OTHERS = (
    claim(
        "HDN-C-torus3d",
        place=PLACE,
        corrects="HDN-Tab2-torus3d",
        statement="a 3D torus has xyz nodes, the diameter floor(x/2) + floor(y/2) + floor(z/2), "
        "and a degree of 2 for each side, 1 for a side of two nodes",
        claimed=floored,
        grid=comparison.TABLE_2[0].grid,
        measured=ratio.cells,
    ),
    claim(
        "HDN-C-ccc",
        place=PLACE,
        corrects="HDN-Tab2-ccc",
        statement="CCC(n) has n 2^n nodes, degree 3 and the diameter 2n + floor(n/2) - 2, 6 for "
        "n = 3",
        claimed=of_ccc,
        grid=comparison.TABLE_2[2].grid,
        measured=ratio.cells,
    ),
    claim(
        "HDN-C-dualcube-base",
        place=PLACE,
        corrects="HDN-S3-dualcube-base",
        statement="the dual-cube(n), with 2^(2n-1) nodes, is the RDN with k = 1 over an (n-1)-cube",
        claimed=lambda n: 2 ** (2 * n - 1),
        grid=comparison.TABLE_2[4].grid,
        measured=lambda n: reached(f"rdn:{'x'.join(['2'] * (n - 1))},1"),
    ),
)


def left_informed(topology: str) -> int:
    """N, divided by the nodes of what each super-node has that the next level's lacks."""
    found = net(topology)
    share = 1
    for low, high in pairwise(found.members):
        share = share**2 * prod(found.base[j][1] for j in set(low) - set(high))
    return found.nodes(found.k) // share


printed = claim(
    "HDN-C-printed-broadcast",
    place=PLACE,
    corrects="HDN-A2-complete",
    statement="from any source the printed algorithm informs N divided by the product, i = 1..k-1, "
    "of the 2^(k-1-i)th powers of the numbers of nodes of what SN^i has and SN^(i+1) lacks: every "
    "node only if each super-node is contained in the next level's",
    claimed=left_informed,
    grid=broadcasts.complete.grid,
    cost=broadcasts.complete.cost,
    measured=lambda topology: runs(topology, PRINTED).fewest_informed,
)


def steps_by_recurrence(topology: str) -> int:
    """Solve the recurrence."""
    found = net(topology)
    steps = found.broadcast(found.all)
    for members in found.members:
        steps = 2 * steps + 2 - found.broadcast(members)
    return steps


recurrence_of_steps = claim(
    "HDN-C-Th3-recurrence",
    place=PLACE,
    corrects="HDN-Th3-recurrence",
    statement="T_k = 2 T_{k-1} + 2 - T(SN^k), T_0 = T(B), comes to Theorem 3's value",
    claimed=broadcasts.theorem_3,
    grid=broadcasts.solved_recurrence.grid,
    measures=False,
    measured=steps_by_recurrence,
)


@claim(
    "HDN-C-EX-length",
    place=PLACE,
    corrects="HDN-EX-length",
    statement="the route of Algorithm 1 from u to v has 9 hops, and no way is shorter",
    claimed={"hops": 9, "distance": 9},
    grid=example.route_length.grid,
)
def example_hops() -> dict[str, Any]:
    """Walk the route, and flood from u."""
    nodes = example.route()[0]
    flooded = measure.distance_matrix(FIG11, [nodes[0]])[0]
    return {"hops": len(nodes) - 1, "distance": int(flooded[nodes[-1]])}

"""Comparison with other networks (Section 3: Tables 2 and 3; Section 1)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import ceil, log2, prod
from typing import Any

from mpinet.claims import Claim, Corrected, Measured, claim, once, over, points, section, unsettled
from mpinet.networks import open as open_topology
from mpinet.papers import measured
from mpinet.papers.grids import of
from mpinet.papers.hdn import ratio
from mpinet.papers.hdn.grids import listed, net, rdns, size_of, sized, swept_of
from mpinet.papers.hdn.measured import degree
from mpinet.papers.hdn.ratio import (
    ROWS,
    TABLE_3,
    PrintedRatio,
    cells,
    cost_ratio,
    ratio_of,
)
from mpinet.papers.hdn.sizes import LINKS, degree_with_double_links
from mpinet.papers.sweeps import reached

TORI_OF_BLOCK = {1: "torus:10x10x10", 2: "torus:80x80x80"}
"""3D tori of Table 3's blocks, by the k of the HDNs."""


def sides(topology: str) -> list[int]:
    """Return the sides of a torus."""
    return [int(side) for side in topology.partition(":")[2].split("x")]


def floored(topology: str) -> dict[str, int]:
    """Return Table 2's row of the 3D torus, with halves rounded down."""
    lengths = sides(topology)
    return {
        "n": prod(lengths),
        "d": 6,
        "D": sum(side // 2 for side in lengths),
    }


def of_ccc(n: int) -> dict[str, int]:
    """Return nodes, degree and diameter of CCC(n) by their formulas."""
    return {"n": n * 2**n, "d": 3, "D": 2 * n + n // 2 - 2 if n > 3 else 6}


def of_rdn(topology: str) -> dict[str, int]:
    """Return Table 2's row of RDN(m,k), with the degree of the simple graph."""
    found = net(topology)
    base, k = found.diameter(found.all), found.k
    diameter = 2**k * base + 2 ** (k + 1) - 2
    return {"n": (2 * found.nodes(0)) ** (2**k) // 2, "d": found.degree + k, "D": diameter}


def cells_by_links(topology: str) -> dict[str, Any]:
    """Return a torus's row of Table 2, with two links between the nodes of a side of two."""
    found = cells(topology)
    return found | {"d": found["d"] + sides(topology).count(2)}


TABLE_2 = (
    claim(
        "HDN-Tab2-torus3d",
        claimed=lambda topology: {
            "n": prod(sides(topology)),
            "d": 6,
            "D": sum(sides(topology)) / 2,
        },
        grid=points(
            "x, y, z in 2..7",
            sorted(
                ({"topology": f"torus:{x}x{y}x{z}"} for x, y, z in product(range(2, 8), repeat=3)),
                key=lambda p: prod(sides(p["topology"])),
            ),
        ),
        degenerate=lambda topology: 2 in sides(topology),
        measured=cells_by_links,
        reading=LINKS,
        fails_where=(
            "some side is odd",
            lambda topology: any(side % 2 for side in sides(topology)),
        ),
        corrected=Corrected("HDN-C-torus3d", claimed=floored),
    ),
    claim(
        "HDN-Tab2-cube",
        claimed=of(lambda n: {"n": 2**n, "d": n, "D": n}),
        grid=points("n = 1..10", [{"topology": f"hypercube:{n}"} for n in range(1, 11)]),
        measured=cells,
    ),
    claim(
        "HDN-Tab2-ccc",
        claimed=of(lambda n: {"n": n * 2**n, "d": 3, "D": 2 * n}),
        grid=points("n = 3..9", [{"topology": f"ccc:{n}"} for n in range(3, 10)]),
        measured=cells,
        fails_where=("n > 5", of(lambda n: n > 5)),
        corrected=Corrected("HDN-C-ccc", claimed=of(of_ccc)),
    ),
    claim(
        "HDN-Tab2-dualcube",
        claimed=of(lambda n: {"n": 2 ** (2 * n - 1), "d": n, "D": 2 * n}),
        grid=points("n = 2..7", [{"topology": f"dualcube:{n}"} for n in range(2, 8)]),
        measured=cells,
    ),
    claim(
        "HDN-S3-dualcube-base",
        claimed=lambda n: 2 ** (2 * n - 1),
        grid=over(n=range(2, 8)),
        measured=lambda n: reached(f"rdn:{'x'.join(['2'] * n)},1"),
        corrected=Corrected(
            "HDN-C-dualcube-base", measured=lambda n: reached(f"rdn:{'x'.join(['2'] * (n - 1))},1")
        ),
    ),
    claim(
        "HDN-Tab2-rdn",
        claimed=of_rdn,
        grid=points(
            "R3: bases K2, C3..C7, K4, K2^2, K2^3, C3xC3, 2x3x5, k = 1, 2, N <= 20000",
            lambda: listed(rdns()),
        ),
        cost=swept_of,
        measured=cells,
    ),
)


def with_ratio(topology: str) -> dict[str, Any]:
    """Return nodes, degree and diameter, and the resulting cost ratio."""
    found = cells(topology)
    return found | {"CR": round(cost_ratio(*found.values()), 2)}


claim_table_3 = section(place="Table 3")


def other_row(name: str, topology: str, label: str, claimed: dict[str, Any]) -> Claim:
    """Return the claim of a row of Table 3 for a hypercube or a torus."""
    return claim_table_3(
        f"HDN-Tab3-{name}",
        statement=f"{label}: nodes, degree, diameter, and cost ratio to two decimals",
        claimed=claimed,
        grid=points("w = 1/2", [{"topology": topology}]),
        cost=lambda topology: 1000,
        measured=with_ratio,
    )


OTHERS = [
    other_row("cube10", "hypercube:10", "10-cube", {"n": 1024, "d": 10, "D": 10, "CR": 1.00}),
    other_row(
        "tori10", "torus:10x10x10", "3D torus 10x10x10", {"n": 1000, "d": 6, "D": 15, "CR": 1.05}
    ),
    other_row("cube19", "hypercube:19", "19-cube", {"n": 524288, "d": 19, "D": 19, "CR": 1.00}),
    other_row(
        "tori80", "torus:80x80x80", "3D torus 80x80x80", {"n": 512000, "d": 6, "D": 120, "CR": 3.32}
    ),
]


def hdn_row(printed: PrintedRatio) -> Claim:
    """Return the claim of a row of Table 3 for an HDN, without its degree."""
    sizes = ",".join(map(str, printed.sizes))
    return claim_table_3(
        f"HDN-Tab3-{len(printed.sizes)}-{sizes.replace(',', '-')}",
        statement=f"HDN(B,{len(printed.sizes)},({sizes})) over the 2x3x5 torus: nodes, diameter, "
        f"and cost ratio with the paper's degree {printed.d} to two decimals",
        claimed={"n": printed.n, "D": printed.D, "CR": printed.CR},
        grid=points("w = 1/2", [{"topology": sized(printed.sizes)}]),
        cost=swept_of,
        measured=lambda topology: cells(topology, "n", "D") | {"CR": round(ratio_of(topology), 2)},
    )


HDNS = [hdn_row(row) for row in ROWS]


@claim_table_3(
    "HDN-Tab3-d",
    claimed={",".join(map(str, row.sizes)): row.d for row in ROWS},
    grid=once("Table 3"),
    cost=lambda: 500,
    reading="a degree counts different neighbours.",
    corrected=Corrected(
        "HDN-C-Tab3-d", claimed={",".join(map(str, row.sizes)): 5 + len(row.sizes) for row in ROWS}
    ),
)
def degrees() -> dict[str, Any]:
    """Return the degrees, by counting every node's neighbours."""
    return {",".join(map(str, row.sizes)): degree(sized(row.sizes)) for row in ROWS}


degrees_by_links = replace(
    degrees,
    id="HDN-Tab3-d-links",
    reading=LINKS,
    measured=lambda: {
        ",".join(map(str, row.sizes)): degree_with_double_links(sized(row.sizes)) for row in ROWS
    },
    cause="",
    corrected=None,
)


@claim(
    "HDN-S1-better",
    claimed={
        "degree below the cube's": True,
        "diameter at most the cube's": True,
        "degree below the torus's": True,
        "diameter below the torus's": True,
    },
    grid=points("Table 3", TABLE_3).quick(lambda topology: size_of(topology) <= 130000),
    cost=swept_of,
    reading="degree and diameter are compared one by one.",
)
def better(topology: str) -> Measured:
    """Compare measured degrees (as simple graphs) and diameters of HDN, hypercube and torus."""
    # The hypercube must have at least as many nodes; a smaller one would win by its size.
    dimension = ceil(log2(reached(topology)))
    block = TORI_OF_BLOCK[net(topology).k]
    own, torus = cells(topology, "d", "D"), cells(block, "d", "D")
    cube = cells(f"hypercube:{dimension}", "d", "D")
    return Measured(
        {
            "degree below the cube's": own["d"] < cube["d"],
            "diameter at most the cube's": own["D"] <= cube["D"],
            "degree below the torus's": own["d"] < torus["d"],
            "diameter below the torus's": own["D"] < torus["D"],
        },
        {"HDN": own, f"{dimension}-cube": cube, block: torus},
    )


better_by_ratio = replace(
    ratio.effective,
    id="HDN-S1-better-cr",
    place="Abstract, Sec 1, Sec 6",
    reading="degree and diameter are compared together, by the paper's measure of both.",
)

claim_1 = section(place="Sec 1", claimed=lambda topology: log2(open_topology(topology).size))

GROWTH = (
    claim_1(
        "HDN-S1-cube-degree",
        grid=points("n in 1..12", [{"topology": f"hypercube:{n}"} for n in range(1, 13)]),
        measured=lambda topology: max(measured.degrees(topology)),
    ),
    claim_1(
        "HDN-S1-torus-diameter",
        relation=">",
        grid=points(
            "kxk, k in 6..20, and kxkxk, k in 6..12, even k",
            [{"topology": f"torus:{k}x{k}"} for k in range(6, 21, 2)]
            + [{"topology": f"torus:{k}x{k}x{k}"} for k in range(6, 13, 2)],
        ),
        reading='"large" is larger than the logarithm; smaller tori have smaller diameters.',
        measured=measured.diameter,
    ),
)

roadrunner = unsettled(
    "HDN-S1-roadrunner",
    place="Sec 1, Sec 6",
    statement="compared with Roadrunner, an HDN needs a small number of links, and it resembles "
    "its architecture",
    relation="~",
    reason="the paper gives no figures, neither of Roadrunner's links nor of what resembles it",
)

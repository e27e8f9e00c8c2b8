"""Introduction, definitions 7 and 8, and definitions of the networks (sections 1 to 3)."""

from __future__ import annotations

from functools import partial
from math import log2, sqrt

import numpy as np

from mpinet import measure
from mpinet.claims import Corrected, Measured, claim, section, unsettled
from mpinet.measure.wiring import to_graph
from mpinet.networks.catalogue import open_topology
from mpinet.papers.grids import of, up_to
from mpinet.papers.measured import size_of
from mpinet.papers.sth.grids import HEXCELLS, KINDS, factors, family, sths
from mpinet.papers.sth.measured import degree, diameter, properties
from mpinet.papers.sweeps import reached

HYPERCUBE = claim(
    "STH-D7-hypercube",
    claimed=of(
        lambda n: {"nodes": 2**n, "degree": n, "links": n * 2 ** (n - 1), "diameter": n},
    ),
    grid=family("hypercube", range(1, 10)),
    measured=properties("nodes", "degree", "links", "diameter"),
)

claim_introduction = section(place="introduction")

GROWTH = claim_introduction(
    "STH-I-growth",
    claimed={"Q_9": 512, "Q_10": 1024},
    measured=lambda: {"Q_9": reached("hypercube:9"), "Q_10": reached("hypercube:10")},
)

CUBE_CONNECTED_CYCLES = claim_introduction(
    "STH-I-ccc",
    claimed=of(lambda n: {"nodes": n * 2**n, "degree": 3}),
    grid=family("ccc", range(3, 9)),
    measured=properties("nodes", "degree"),
)

HEXCELL_DIAMETER = claim_introduction(
    "STH-I-hx-diameter",
    claimed=of(lambda d: 4 * sqrt(6 * d * d / 6) - 1),
    grid=HEXCELLS,
    measured=diameter,
)

LARGE = [
    claim_introduction(
        f"STH-I-{family_name}-large",
        statement=f"the diameter of a {named} is large: above log2 N, the hypercube's",
        relation=">",
        claimed=lambda topology: log2(size_of(topology)),
        grid=grid,
        measured=diameter,
        reading='"large" is larger than the diameter of a hypercube of as many nodes.',
    )
    for family_name, named, grid in (
        ("ccc", "CCC(n)", family("ccc", range(3, 9))),
        ("hx", "Hex-Cell of four or more levels", family("hexcell", range(4, 17))),
    )
]

HEXCELL_DEGREE = claim_introduction(
    "STH-I-hx-degree", relation="<=", claimed=3, grid=HEXCELLS, measured=degree
)

HEXCELL_IRREGULAR = claim_introduction(
    "STH-I-hx-irregular",
    relation="all",
    grid=family("hexcell", range(2, 9), "Hex-Cell, 2..8 levels"),
    measured=lambda topology: (
        len(measure.degrees(topology)) > 1 and not measure.vertex_transitive(topology)
    ),
)


TWISTED_DEGREE = claim(
    "STH-D8-degree",
    claimed=of(lambda n: {"nodes": 2**n, "degree": n}),
    grid=family("tq", range(2, 11)),
    measured=properties("nodes", "degree"),
)

TWISTED_DIAMETER = claim(
    "STH-D8-diameter",
    claimed=of(lambda n: n - 1),
    grid=family("tq", range(3, 12)),
    measured=diameter,
)

TWISTED_SQUARE = claim(
    "STH-D8-diameter-n2",
    claimed=of(lambda n: n - 1),
    grid=family("tq", range(2, 3), "tq, n=2"),
    measured=diameter,
    corrected=Corrected("STH-C-tq-diameter-n2", claimed=2),
)


@claim("STH-D8-any-4-cycle", relation="iso", grid=family("tq", range(2, 5)))
def any_4_cycle(topology: str) -> Measured:
    """Twist each pair of opposite links of each 4-cycle of the hypercube, and compare."""
    twisted = to_graph(topology)
    cube = to_graph(topology.replace("tq", "hypercube"))
    ends = cube.get_edgelist()
    # Definition 8 does not fix the 4-cycle. TQ_n is well defined only if all choices give the same
    # network.
    ways = [(a, b, c, d) for a, b in ends for c, d in (*ends, *((d, c) for c, d in ends))]
    for a, b, c, d in ways:
        if len({a, b, c, d}) < 4 or not (cube.are_adjacent(a, c) and cube.are_adjacent(b, d)):
            continue
        other = cube.copy()
        other.delete_edges([(a, b), (c, d)])
        other.add_edges([(a, d), (b, c)])
        if not other.isomorphic(twisted):
            return Measured(False, {"removed": [[a, b], [c, d]], "added": [[a, d], [b, c]]})
    return Measured(True)


claim_section_3 = section(place="section 3", grid=family("lst", range(2, 65)))

LOOP_SIZE = claim_section_3("STH-S3-lst-size", claimed=of(lambda m: 8 * m), measured=reached)

LOOP_DEGREE = claim_section_3(
    "STH-S3-lst-degree",
    claimed=of(lambda m: {"degree": 4, "links": 16 * m}),
    measured=properties("degree", "links"),
)

LOOP_SYMMETRIC = claim(
    "STH-S3-lst-symmetric",
    relation="all",
    grid=family("lst", range(2, 33)),
    measured=measure.vertex_transitive,
)

LEA_SIZE = unsettled(
    "STH-S3-lea-size",
    place="section 3",
    statement="LEA(m), from which LST(m) comes, has 6m nodes",
    reason="the paper gives no wiring of LEA, only its size: there is no network to measure",
)

FIGURE_1 = claim(
    "STH-F1-lst3",
    claimed={"nodes": 24, "links": 48},
    measured=partial(properties("nodes", "links"), "lst:3"),
)

FIGURE_2 = claim(
    "STH-F2-sth23",
    claimed={"nodes": 128, "degree": 7, "links": 448},
    measured=partial(properties("nodes", "degree", "links"), "sth:2,3"),
)


@claim(
    "STH-S3-product",
    claimed=of(lambda m, n: {"LST copies": 2**n, "cube copies": 8 * m, "other links": 0}),
    grid=sths("m=2..4, n<=5, every kind", (2, 3, 4), KINDS, range(6)).quick(up_to(256)),
)
def product(topology: str) -> dict[str, int]:
    """Return the number of links by the changed part of the address."""
    loop, cube = map(open_topology, factors(topology))
    ends = measure.edges(topology)
    v, u = np.divmod(ends, loop.size)
    in_loop, in_cube = v[:, 0] == v[:, 1], u[:, 0] == u[:, 1]
    return {
        "LST copies": _copies(v[in_loop, 0], u[in_loop], measure.edges(loop)),
        "cube copies": _copies(u[in_cube, 0], v[in_cube], measure.edges(cube)),
        "other links": int((in_loop == in_cube).sum()),
    }


def _copies(labels: np.ndarray, ends: np.ndarray, factor: np.ndarray) -> int:
    """Return the number of labels whose links are exactly those of the factor."""
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    labels, ends = labels[order], ends[order]
    return sum(np.array_equal(ends[labels == label], factor) for label in np.unique(labels))

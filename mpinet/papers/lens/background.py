"""Networks that the paper compares with the lens (sections 1 and 2)."""

from __future__ import annotations

from itertools import product

import numpy as np

from mpinet import measure
from mpinet.claims import Corrected, Measured, claim, section, unsettled
from mpinet.papers.grids import numbers, of, pairs_of, up_to
from mpinet.papers.lens.grids import by_size, family
from mpinet.papers.lens.loads import extremes
from mpinet.papers.lens.measured import busses, incidences, members
from mpinet.papers.measured import informed, size_of
from mpinet.papers.witness import largest

OURS = (
    "Reconstruction: the report describes this network in a sentence; the wiring is our completion "
    "of it."
)

SNOWFLAKES = [(p, n) for p, levels in ((2, 9), (3, 6), (4, 5), (5, 4)) for n in range(1, levels)]
STARS = [(p, n) for p in range(3, 7) for n in range(1, 7)]


HYPERCUBE = claim(
    "LENS-S1-hypercube",
    claimed=of(lambda n: {"processors": 2**n, "diameter": n, "degrees": [n]}),
    grid=family("hypercube", ((n,) for n in range(1, 9)), "hypercube, n 1..8"),
    measured=lambda topology: {
        "processors": informed(topology),
        "diameter": measure.diameter(topology),
        "degrees": list(measure.degrees(topology)),
    },
)

CUBES = family("hypercube", ((n,) for n in range(2, 8)), "hypercube, n 2..7")

HYPERCUBE_CRITERIA = (
    claim(
        "LENS-S1-hypercube-uniform",
        claimed=0,
        grid=CUBES,
        measured=lambda topology: int(np.ptp(measure.loads(topology).channels)),
    ),
    claim(
        "LENS-S1-hypercube-redundant",
        reading='"very high" is as high as the degree lets it be.',
        claimed=of(lambda n: n),
        grid=CUBES,
        measured=measure.connectivity,
    ),
)

SNOWFLAKE_DIAMETER = claim(
    "LENS-S1-snowflake-diameter",
    note=OURS,
    claimed=of(lambda p, n: 2**n - 1),
    grid=family("snowflake", SNOWFLAKES, "dense snowflake, p 2..5, N<=256, 243, 256, 125"),
    cost=pairs_of,
    measured=measure.diameter,
)


@claim(
    "LENS-S1-snowflake-load-varies",
    note=OURS,
    relation=">",
    claimed=2.0,
    grid=by_size("snowflake, p=3, n=4", ["snowflake:3,4"]),
)
def snowflake_loads(topology: str) -> Measured:
    """Return the ratio of largest to smallest load of routes between all ordered pairs."""
    return load_ratio(topology)


def load_ratio(topology: str) -> Measured:
    """Return the load of the busiest bus divided by the load of the least busy bus."""
    carried = measure.loads(topology).channels
    return Measured(float(carried.max() / carried.min()), extremes(carried, "bus"))


MULTITREE = unsettled(
    "LENS-S1-multitree",
    place="1",
    statement="the multi-tree has a small diameter and fixed degrees, but no general routing",
    reason="the paper gives no construction of the multi-tree (Arden and Lee, 1978), and that it "
    "has "
    "no general routing is nothing to measure",
)


claim_2 = section(place="2", note=OURS)

MOST_BUSSES = claim_2(
    "LENS-S2-two-busses",
    relation="<=",
    claimed=2,
    grid=by_size(
        "snowflake and star, p 3..5, n 1..4",
        [
            f"{name}:{p},{n}"
            for name, p, n in product(("snowflake", "busstar"), (3, 4, 5), range(1, 5))
        ],
    ),
    measured=lambda topology: largest(np.bincount(incidences(topology)[:, 0]), "processor"),
)


@claim_2(
    "LENS-S2-snowflake-busses",
    claimed=of(lambda p, n: {"busses": 2 * p ** (n - 1) - 1, "added": p - 1 if n > 1 else 1}),
    grid=family("snowflake", SNOWFLAKES, "dense snowflake, p 2..5"),
)
def snowflake_busses(topology: str) -> dict[str, int]:
    """Return the number of busses that the last level adds to the p clusters below."""
    p, n = numbers(topology)
    below = p * busses(f"snowflake:{p},{n - 1}") if n > 1 else 0
    return {"busses": busses(topology), "added": busses(topology) - below}


ALL_STARS = family("busstar", STARS, "star, p 3..6, n 1..6").quick(up_to(2000))


@claim_2(
    "LENS-S2-star-diameter-log",
    relation="<=",
    claimed=of(lambda p, n: 6 * n),
    grid=ALL_STARS,
    cost=size_of,
)
def star_diameter(topology: str) -> Measured:
    """Return the diameter of a tree, by floods from node 0 and from the node farthest from it."""
    if pieces_and_cycles(topology)["cycles"]:
        return Measured(measure.diameter(topology))
    # In a tree, the node farthest from any node is the end of a longest path.
    far = int(measure.distance_matrix(topology, [0])[0].argmax())
    hops = measure.distance_matrix(topology, [far])[0]
    return Measured(int(hops.max()), {"source": far, "target": int(hops.argmax())})


LEVELS = [(p, n) for p, levels in ((3, (4, 5, 6)), (4, (4, 5)), (5, (4,))) for n in levels]
"""Stars with four levels or more. With up to three levels and p = 3, both diameters are equal."""


@claim_2(
    "LENS-S2-star-shorter",
    note=f"{OURS} From four levels on: the improvement is one of orders of growth, and with three "
    "processors on a bus and up to three levels both diameters are the same.",
    relation="<",
    claimed=of(lambda p, n: 2**n - 1),
    grid=family("busstar", LEVELS, "star, p 3..5, from 4 levels on").quick(up_to(300)),
    cost=size_of,
)
def shorter_than_snowflake(topology: str) -> Measured:
    """Return the star's diameter by floods; LENS-S1-snowflake-diameter has the snowflake's."""
    return star_diameter.measurement(topology)


@claim_2(
    "LENS-S2-star-load-worse",
    relation=">",
    claimed=of(lambda p, n: load_ratio(f"snowflake:{p},{n}").value),
    grid=family("busstar", [(3, 2), (3, 3), (4, 2), (4, 3), (5, 2)], "star, p 3..5, n 2..3"),
    cost=size_of,
)
def load_ratio_of_star(topology: str) -> Measured:
    """Return the ratio of largest to smallest load of routes between all ordered pairs."""
    return load_ratio(topology)


def pieces_and_cycles(topology: str) -> dict[str, int]:
    """Return components and independent cycles of the graph of processors and busses."""
    graph = measure.incidence_graph(topology)
    pieces = len(graph.connected_components())
    return {"pieces": pieces, "cycles": graph.ecount() - graph.vcount() + pieces}


ONE_PATH = claim_2(
    "LENS-S2-star-one-path",
    claimed={"pieces": 1, "cycles": 0},
    grid=ALL_STARS,
    cost=size_of,
    measured=pieces_and_cycles,
)


def on_one_bus(p: int, n: int) -> int:
    """Return the number of a star's processors on one bus: the leaves of its tree.

    N processors and B busses of p members form a tree, so p B = N + B - 1. A processor is on at
    most two busses, so p B - N processors are on two.
    """
    N = p**n
    return N - ((N - 1) // (p - 1) - 1)


@claim_2(
    "LENS-S2-star-failure",
    claimed=0,
    grid=ALL_STARS,
    cost=size_of,
    corrected=Corrected("LENS-C-star-failure", claimed=of(on_one_bus), note=OURS),
)
def harmless_failures(topology: str) -> Measured:
    """Return the number of processors and busses whose removal leaves the network connected."""
    graph = measure.incidence_graph(topology)
    cutting = set(graph.articulation_points())
    harmless = [vertex for vertex in range(graph.vcount()) if vertex not in cutting]
    N = size_of(topology)
    first = harmless[0] if harmless else None
    where = {} if first is None else {"processor": first} if first < N else {"bus": first - N}
    return Measured(len(harmless), where)


@claim_2(
    "LENS-S2-star-central-bus",
    tolerance=1e-12,
    claimed=of(lambda p, n: (p - 1) / p),
    grid=family(
        "busstar", [(p, n) for p in range(3, 10) for n in range(1, 5) if p**n <= 81], "star, N<=81"
    ),
)
def central_bus(topology: str) -> Measured:
    """Return the load of the bus that joins the p largest clusters, divided by the pairs."""
    p, n = numbers(topology)
    center = next(
        bus
        for bus, on in members(topology).items()
        if len({u // p ** (n - 1) for u in on}) == len(on) == p
    )
    return Measured(used(topology, center), {"bus": center})


def used(topology: str, bus: int) -> float:
    """Return the fraction of the N^2 pairs whose message a bus carries."""
    return float(measure.loads(topology).channels[bus] / size_of(topology) ** 2)


@claim_2(
    "LENS-S2-star-outermost-bus",
    relation="~",
    tolerance=0.5,
    claimed=of(lambda p, n: 2 * (p - 1) / p ** (2 * n)),
    grid=by_size("star, p=4, n=3", ["busstar:4,3"]),
    corrected=Corrected(
        "LENS-C-star-outermost-bus",
        note=OURS,
        claimed=of(lambda p, n: (p - 1) * (2 * p**n - p) / p ** (2 * n)),
        tolerance=1e-12,
    ),
)
def outermost_bus(topology: str) -> Measured:
    """Return the fraction of pairs that use the least used bus."""
    bus = int(measure.loads(topology).channels.argmin())
    return Measured(used(topology, bus), {"bus": bus, "members": members(topology)[bus]})

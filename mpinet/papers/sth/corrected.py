"""Statements of the paper as they hold, each measured where the refuted one was."""

from __future__ import annotations

from collections.abc import Callable

from mpinet import measure
from mpinet.claims import Claim, claim
from mpinet.papers.grids import numbers, of, up_to
from mpinet.papers.sth import average as averages
from mpinet.papers.sth import bisection, definitions, discussion, faults, lemmas, routing, table4
from mpinet.papers.sth.formulas import sth_diameter
from mpinet.papers.sth.grids import DLHS, HEXCELLS, KINDS, factors, family
from mpinet.papers.sth.measured import average, diameter, extent, nodes
from mpinet.papers.sth.measured import bisection as narrowest
from mpinet.papers.sth.printed import TABLE_8
from mpinet.papers.sth.table8 import LARGEST, near_sizes

PLACE = "as it holds"

AT_MOST_SYMMETRIC = {"tq": 3, "cq": 4, "hkv": 3}
"""Dimensions up to which each kind of cube is vertex-symmetric."""


def cube_diameter(n: int) -> int:
    """Of definition 8's cube: n - 1, but 2 for n = 2."""
    return max(2, n - 1)


def cube_distances(n: int) -> int:
    """Sum of the distances of all ordered pairs in definition 8's cube."""
    k = n - 2
    return (8 * k + 16) * 4**k - 4 * 3**k + 4


def twisted_average(n: int) -> float:
    """The mean of them over different nodes."""
    return cube_distances(n) / (2**n * (2**n - 1))


def sth_average(m: int, n: int) -> float:
    """Means that count a node itself add up in a product; then over different nodes."""
    size = m * 2 ** (n + 3)
    mean = m * (4 * m + 7) / (8 * m) + cube_distances(n) / 4**n
    return mean * size / (size - 1)


def loop_width(m: int) -> int:
    """8 for m = 2, 10 from m = 3 on."""
    return 8 if m == 2 else 10


def product_cut(topology: str) -> int:
    """Width of the cut that halves every copy of the loop as the loop's narrowest cut does."""
    loop, _ = factors(topology)
    inside = set(narrowest(loop).side)
    size = nodes(loop)
    return measure.cut_width(
        topology, [node for node in range(nodes(topology)) if node % size in inside]
    )


def mean_with_itself(topology: str) -> float:
    """Mean distance over all ordered pairs, a node and itself included."""
    found = extent(topology)
    return found.total / found.nodes**2


DIAMETERS = (
    claim(
        "STH-C-tq-diameter",
        place=PLACE,
        corrects="STH-L3-tq-diameter-tq",
        statement="the diameter of the cube of definition 8 is n-1, but 2 for n = 2",
        claimed=of(cube_diameter),
        grid=lemmas.CUBE_DIAMETERS[0].grid,
        measured=diameter,
    ),
    claim(
        "STH-C-tq-diameter-n2",
        place=PLACE,
        corrects="STH-D8-diameter-n2",
        statement="the diameter of TQ_2 is 2",
        claimed=2,
        grid=definitions.TWISTED_SQUARE.grid,
        measured=diameter,
    ),
    claim(
        "STH-C-sth-diameter-tq",
        place=PLACE,
        corrects="STH-L3-sth-diameter-tq",
        statement="the diameter of STH(m,n) with the cube of definition 8 is m+n, but m+3 for n=2",
        claimed=of(lambda m, n: m + 1 + cube_diameter(n)),
        grid=lemmas.STH_DIAMETERS[0].grid,
        measured=diameter,
    ),
)

SYMMETRIC = [
    claim(
        f"STH-C-tq-transitive-{kind}",
        place=PLACE,
        corrects=f"STH-L4-tq-transitive-{kind}",
        statement=f"the cube of n dimensions ({KINDS[kind]}) is vertex-symmetric if and only if "
        f"n <= {AT_MOST_SYMMETRIC[kind]}",
        claimed=of(lambda n, kind=kind: n <= AT_MOST_SYMMETRIC[kind]),
        grid=was.grid,
        measured=measure.vertex_transitive,
    )
    for kind, was in zip(KINDS, lemmas.CUBES_TRANSITIVE, strict=True)
]

STH_SYMMETRIC = [
    claim(
        f"STH-C-sth-transitive-{kind}",
        place=PLACE,
        corrects=f"STH-L4-sth-transitive-{kind}",
        statement=f"STH(2,n) ({KINDS[kind]}), n <= 5, is vertex-symmetric if and only if its cube "
        f"is: n <= {AT_MOST_SYMMETRIC[kind]}",
        claimed=of(lambda m, n, kind=kind: n <= AT_MOST_SYMMETRIC[kind]),
        grid=was.grid,
        measured=measure.vertex_transitive,
    )
    for kind, was in zip(KINDS, lemmas.STH_TRANSITIVE, strict=True)
]

WIDTHS = (
    bisection.width_claim(
        "STH-C-lst-width",
        place=PLACE,
        corrects="STH-T1-general",
        statement="the bisection width of LST(m) is 8 for m = 2, 10 from m = 3 on",
        claimed=of(loop_width),
        grid=bisection.EVERY_LOOP.grid,
    ),
    claim(
        "STH-C-sth-width",
        place=PLACE,
        corrects="STH-L5-sth-bisection",
        statement="the bisection width of STH(m,n) is at most that of LST(m) times 2^n: 8 2^n for "
        "m = 2, 10 2^n from m = 3 on",
        relation="<=",
        claimed=of(lambda m, n: loop_width(m) * 2**n),
        grid=bisection.STH_WIDTH.grid,
        measured=product_cut,
    ),
    bisection.width_claim(
        "STH-C-dlh-width",
        place=PLACE,
        corrects="STH-T4-bw-dlh",
        statement="the bisection width of DLH(m,n) is 2^(n+2), whatever m",
        claimed=of(lambda m, n: 2 ** (n + 2)),
        grid=DLHS.quick(up_to(64)),
    ),
)


AVERAGES = (
    claim(
        "STH-C-lst-average",
        place=PLACE,
        corrects="STH-L6-lst-average",
        statement="the average distance of LST(m) is m(4m+7)/(8m-1), as that of each node is",
        claimed=of(lambda m: m * (4 * m + 7) / (8 * m - 1)),
        tolerance=averages.ROUNDING,
        grid=averages.LOOP_AVERAGE.grid,
        measured=average,
    ),
    claim(
        "STH-C-tq-average",
        place=PLACE,
        corrects="STH-L6-tq-average-tq",
        statement="the average distance of the cube of definition 8 is "
        "(8n 4^(n-2) - 4 3^(n-2) + 4) / (2^n (2^n - 1))",
        claimed=of(twisted_average),
        tolerance=averages.ROUNDING,
        grid=averages.CUBE_AVERAGES[0].grid,
        measured=average,
    ),
    claim(
        "STH-C-additive",
        place=PLACE,
        corrects="STH-L6-additive",
        statement="the mean distance of the product, a node's to itself counted, is the sum of "
        "those of LST(m) and of the cube",
        claimed=lambda topology: sum(map(mean_with_itself, factors(topology))),
        tolerance=averages.ROUNDING,
        grid=averages.ADDITIVE.grid,
        measured=mean_with_itself,
    ),
    claim(
        "STH-C-sth-average-tq",
        place=PLACE,
        corrects="STH-L6-sth-average-tq",
        statement="the average distance of STH(m,n) with the cube of definition 8 is N/(N-1) times "
        "the sum of (4m+7)/8 and of the cube's mean distance, a node's to itself counted",
        claimed=of(sth_average),
        tolerance=averages.ROUNDING,
        grid=averages.STH_AVERAGES[0].grid,
        measured=average,
    ),
    claim(
        "STH-C-average-grows",
        place=PLACE,
        corrects="STH-S-average-constant",
        statement="STH's average distance is at least m/2 hops: it grows as m does",
        relation=">=",
        claimed=of(lambda m, n: m / 2),
        grid=discussion.ROWS_OF_STH,
        measured=average,
    ),
)


def fault_claim(id: str, was: Claim, statement: str, formula: Callable[[int], int]) -> Claim:
    """A fault diameter as it is."""
    return claim(
        f"STH-C-{id}",
        place=PLACE,
        corrects=was.id,
        statement=statement,
        claimed=of(formula),
        grid=was.grid,
        measured=was.measurement,
    )


FAULTS = (
    fault_claim(
        "lst-fault-diameter",
        faults.LOOP_FAULTS,
        "the 3-fault diameter D_4 of LST(m) is m+3",
        lambda m: m + 3,
    ),
    fault_claim(
        "tq-fault-diameter-tq",
        faults.CUBE_FAULTS[0],
        "the (n-1)-fault diameter D_n of the cube of definition 8 is n+1, but 3 for n = 3",
        lambda n: 3 if n == 3 else n + 1,
    ),
    *(
        fault_claim(
            f"tq-fault-diameter-{kind}",
            was,
            f"the (n-1)-fault diameter D_n of the cube ({KINDS[kind]}) is ceil(n/2)+2, but 3 for "
            "n = 3",
            lambda n: 3 if n == 3 else (n + 1) // 2 + 2,
        )
        for kind, was in zip(("cq", "hkv"), faults.CUBE_FAULTS[1:], strict=True)
    ),
)

ROUTES = (
    claim(
        "STH-C-routes",
        place=PLACE,
        corrects="STH-R-optimal",
        statement="the longest route of the paper's routing in LST(m) has 4m-2 hops",
        claimed=lambda topology: 4 * numbers(topology)[0] - 2,
        grid=routing.LOOPS,
        measured=lambda topology: routing.longest(topology, "paper"),
    ),
)

HEXCELL_CELLS = tuple(
    claim(
        f"STH-C-{id}-hx",
        place=PLACE,
        corrects=f"STH-T4-{id}-hx",
        statement=statement,
        claimed=of(formula),
        grid=HEXCELLS if id != "cf" else family("hexcell", range(2, 9), "Hex-Cell, 2..8 levels"),
        measured=measured,
    )
    for id, statement, formula, measured in (
        ("nodes", "a Hex-Cell of i levels has 6i^2 nodes", lambda i: 6 * i * i, nodes),
        ("diameter", "its diameter is 4i-1", lambda i: 4 * i - 1, diameter),
        (
            "cf",
            "its cost factor (degree times diameter) is 3(4i-1), i >= 2",
            lambda i: 3 * (4 * i - 1),
            table4.cost_factor,
        ),
        (
            "cost",
            "its cost (links times diameter) is (9i^2-3i)(4i-1)",
            lambda i: (9 * i * i - 3 * i) * (4 * i - 1),
            table4.cost,
        ),
    )
)


def right_diameter(kind: str, m: int, n: int) -> int:
    """Lemma 3's where it holds, that of definition 8's cube else."""
    return m + 1 + cube_diameter(n) if kind == "tq" else sth_diameter(m, n)


COST_FACTORS = tuple(
    claim(
        f"STH-C-cf-sth-{kind}",
        place=PLACE,
        corrects=f"STH-T4-cf-sth-{kind}",
        statement=f"STH(m,n) ({KINDS[kind]}) has the cost factor (4+n) times its diameter, "
        + ("m+n, m+3 for n = 2" if kind == "tq" else "m+1 + ceil((n+1)/2)"),
        claimed=of(lambda m, n, kind=kind: (4 + n) * right_diameter(kind, m, n)),
        grid=table4.NETWORKS[f"sth-{kind}"][1],
        measured=table4.cost_factor,
    )
    for kind in KINDS
)

COSTS = (
    claim(
        "STH-C-diameter-sth-tq",
        place=PLACE,
        corrects="STH-T4-diameter-sth-tq",
        statement="in table 4 STH(m,n) with the cube of definition 8 has diameter m+n, m+3 for n=2",
        claimed=of(lambda m, n: right_diameter("tq", m, n)),
        grid=table4.NETWORKS["sth-tq"][1],
        measured=diameter,
    ),
    claim(
        "STH-C-cost-sth-tq",
        place=PLACE,
        corrects="STH-T4-cost-sth-tq",
        statement="STH(m,n) with the cube of definition 8 has m 2^(n+2) (4+n) links, and that "
        "times "
        "its diameter, m+n, or m+3 for n = 2, as its cost",
        claimed=of(lambda m, n: right_diameter("tq", m, n) * m * 2 ** (n + 2) * (4 + n)),
        grid=table4.NETWORKS["sth-tq"][1],
        measured=table4.cost,
    ),
)

SINGLE_LEVELS = [
    claim(
        f"STH-C-T8-{psi}-hx",
        place=PLACE,
        corrects=f"STH-T8-{psi}-hx",
        statement="table 8's Hex-Cell cells are those of the sizes 6(2i-1), the nodes of single "
        f"levels: {printed[1][0]} sizes within {psi} percent",
        claimed=printed[1][0],
        measures=False,
        measured=lambda psi=psi: near_sizes([6 * (2 * i - 1) for i in range(1, LARGEST)], psi),
    )
    for psi, printed in TABLE_8.items()
]

"""Claims of the STH paper, each measured.

The modules follow the paper's sections. In different places the paper means three different twisted
cubes (docs/papers/sth, 10). Claims about the cube are tested for each kind. Other claims are tested
for the cube of the paper's definition 8. If the paper compares with a Hex-Cell of an impossible
size, the statement names the Hex-Cell that replaces it.
"""

from collections.abc import Callable
from functools import partial

from mpinet.claims.paper import ClaimColumn, MeasuredTable, Paper, PaperTable, labelled
from mpinet.papers.sth.grids import dlh_of, hypercube_of, sth_of
from mpinet.papers.sth.plots import PLOTS
from mpinet.papers.sth.printed import ROWS, TOLERANCES

OF_KINDS = ("dlh", "hx", "sth-tq", "sth-cq", "sth-hkv")


def _table4(
    label: str, key: str, networks: tuple[str, ...] = ("dlh", "hx", "sth")
) -> tuple[str, tuple[str, ...]]:
    """Return a row of table 4, with its claims."""
    return label, tuple(f"STH-T4-{key}-{network}" for network in networks)


def _column(name: str, claim: str, network: Callable[[int], str]) -> ClaimColumn:
    """Return a column of tables 6 and 7, with a network for each row."""
    return ClaimColumn(name, claim, labelled(ROWS, network))


STH_CQ = partial(sth_of, kind="cq")

PAPER = Paper(
    "sth",
    "STH: a highly scalable and economical topology for massively parallel systems",
    modules=(
        "definitions",
        "lemmas",
        "bisection",
        "average",
        "faults",
        "routing",
        "table4",
        "tables",
        "table8",
        "discussion",
        "figures",
        "own",
    ),
    ours=("optimum",),
    tables=(
        PaperTable(
            "Table 1. Bisection width of LST(m)",
            tuple((f"m={m}", (f"STH-T1-m{m}",)) for m in (2, 3, 4, 5)),
        ),
        PaperTable(
            "Table 2. Distances from the first node of LST(m)",
            tuple((f"m={m}", (f"STH-T2-m{m}",)) for m in (2, 3, 4)),
        ),
        PaperTable(
            "Table 3. The four walks from 2 to 19 in LST(3)",
            tuple((f"round {row}", (f"STH-T3-row{row}",)) for row in (1, 2, 3)),
        ),
        PaperTable(
            "Table 4. Basic properties",
            (
                _table4("nodes", "nodes"),
                _table4("degree", "degree"),
                _table4("diameter", "diameter", OF_KINDS),
                _table4("cost factor", "cf", OF_KINDS),
                _table4("cost", "cost", OF_KINDS),
                _table4("links", "links"),
                _table4("bisection width", "bw"),
            ),
        ),
        PaperTable(
            "Table 5. Diameter, links, cost factor and cost, by the paper's formulas",
            tuple((f"{nodes}", (f"STH-T5-{nodes}",)) for nodes in ROWS),
        ),
        PaperTable(
            "Table 5, measured on DLH and on STH with the cube of definition 8 and a crossed cube",
            tuple(
                (
                    f"{nodes}",
                    (f"STH-T5-{nodes}-dlh", f"STH-T5-{nodes}-sth-tq", f"STH-T5-{nodes}-sth-cq"),
                )
                for nodes in ROWS
            ),
        ),
        PaperTable(
            "Table 6. Bisection width and costs of broadcasts, by the paper's formulas",
            tuple((f"{nodes}", (f"STH-T6-{nodes}",)) for nodes in ROWS),
        ),
        PaperTable(
            "Table 7. Average distance and traffic density of HC and STH, by the paper's formulas",
            tuple((f"{nodes}", (f"STH-T7-{nodes}",)) for nodes in ROWS),
        ),
        MeasuredTable(
            "Table 6, measured: bisection widths, and costs of broadcasts at measured diameters "
            "(hx: the largest Hex-Cell of at most N nodes)",
            (
                _column("width DLH", "STH-T6-bw-dlh", dlh_of),
                _column("width STH", "STH-T6-bw-sth", sth_of),
                _column("DLH", "STH-T6-bc-dlh", dlh_of),
                _column("STH tq", "STH-T6-bc-sth-tq", sth_of),
                _column("STH cq", "STH-T6-bc-sth-cq", STH_CQ),
            ),
        ),
        MeasuredTable(
            "Table 7, measured: average distances and traffic densities",
            tuple(
                _column(f"{named} {name}", f"STH-T7-{measure}-{network}", of_row)
                for measure, named in (("avg", "average"), ("density", "density"))
                for network, name, of_row in (
                    ("dlh", "DLH", dlh_of),
                    ("hc", "HC", hypercube_of),
                    ("sth-tq", "STH tq", sth_of),
                    ("sth-cq", "STH cq", STH_CQ),
                )
            ),
        ),
        PaperTable(
            "Table 8. Sizes from 1 to 50000 that are available",
            tuple(
                (
                    f"psi={psi}",
                    tuple(
                        f"STH-T8-{psi}-{network}"
                        for network in ("dlh", "hx", "sth-link", "tq-link", "sth-def8", "tq-def8")
                    ),
                )
                for psi in TOLERANCES
            ),
        ),
    ),
    citation="Jahangir Alam, Rajesh Kumar: STH: a highly scalable and economical topology for "
    "massively parallel systems. Indian Journal of Science and Technology, 2011.",
    plots=PLOTS,
)

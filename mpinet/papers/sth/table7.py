"""Table 7: average distance and message traffic density."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mpinet.claims import Claim, claim
from mpinet.papers.measured import size_of
from mpinet.papers.sth.formulas import average_cells
from mpinet.papers.sth.grids import KINDS, dlh_of, hypercube_of, rows, sth_of
from mpinet.papers.sth.measured import average, density
from mpinet.papers.sth.printed import ROWS, TABLE_7
from mpinet.papers.sth.table5 import cells
from mpinet.papers.sth.table6 import PRINTED

BY_FORMULAS = [
    claim(
        f"STH-T7-{nodes}",
        place=f"table 7, row {nodes}",
        statement="the row's cells of HC and STH follow from N log2(N)/(2(N-1)) and lemma 6",
        claimed=cells({name: row[1:] for name, row in TABLE_7[nodes].items()}, ("HC", "STH")),
        tolerance=PRINTED,
        measures=False,
        measured=lambda nodes=nodes: cells(average_cells(nodes), ("HC", "STH")),
    )
    for nodes in ROWS
]
"""No formula of the paper gives the cells of DLH."""

NETWORKS: dict[str, tuple[int, str, Callable[[int], str]]] = {
    "dlh": (0, "DLH", dlh_of),
    "hc": (1, "HC", hypercube_of),
    **{
        f"sth-{kind}": (2, f"STH ({KINDS[kind]})", partial(sth_of, kind=kind))
        for kind in ("tq", "cq")
    },
}
"""Column, name, and the row's network."""


def _column(
    id: str, measure: str, named: str, network: str, measured: Callable[[str], float]
) -> Claim:
    """A column of the table."""
    at, name, of_row = NETWORKS[network]
    printed = {of_row(nodes): TABLE_7[nodes][measure][at] for nodes in ROWS}
    return claim(
        f"STH-T7-{id}-{network}",
        place="table 7",
        statement=f"the row's {named} of {name} is that of the network",
        claimed=lambda topology: printed[topology],
        tolerance=PRINTED,
        grid=rows(of_row),
        cost=lambda topology: size_of(topology) / 4096,
        measured=measured,
        cause="" if network == "hc" else "averages",
    )


AVERAGES = [_column("avg", "average", "average distance", name, average) for name in NETWORKS]

DENSITIES = [_column("density", "density", "traffic density", name, density) for name in NETWORKS]

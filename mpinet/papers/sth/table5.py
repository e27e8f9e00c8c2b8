"""Table 5: diameter, links, cost factor and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mpinet.claims import Claim, Measured, claim, over
from mpinet.papers.grids import networks
from mpinet.papers.measured import links, size_of
from mpinet.papers.sth.formulas import basic_cells
from mpinet.papers.sth.grids import dlh_of, hexcell_from, hexcell_up_to, sth_of
from mpinet.papers.sth.measured import degree, diameter, extent
from mpinet.papers.sth.printed import ROWS, TABLE_5

COLUMNS = ("DLH", "HX", "STH")


def cells(groups: Mapping[str, Sequence[float]], columns: tuple[str, ...]) -> dict[str, float]:
    """The cells of a row by name: measure and network."""
    return {
        f"{name} {column}": value
        for name, values in groups.items()
        for column, value in zip(columns, values, strict=True)
    }


BY_FORMULAS = [
    claim(
        f"STH-T5-{nodes}",
        place=f"table 5, row {nodes}",
        statement="the row's 12 cells follow from the paper's formulas (Hex-Cell: at sqrt(N/6) "
        "levels)",
        claimed=cells(TABLE_5[nodes], COLUMNS),
        measures=False,
        measured=lambda nodes=nodes: cells(basic_cells(nodes), COLUMNS),
    )
    for nodes in ROWS
]


def four_cells(topology: str) -> dict[str, int]:
    """The row's four measures of one network."""
    d, D, L = degree(topology), extent(topology).diameter, links(topology)
    return {"D": D, "L": L, "d*D": d * D, "L*D": L * D}


def _row_of(nodes: int, network: str, named: str, topology: str, cause: str = "") -> Claim:
    """The four cells of one network in a row."""
    column = named.partition(" ")[0]
    at = COLUMNS.index(column)

    def found(topology: str) -> Measured:
        values = {f"{name} {named}": value for name, value in four_cells(topology).items()}
        return Measured(values, diameter(topology).where)

    return claim(
        f"STH-T5-{nodes}-{network}",
        place=f"table 5, row {nodes}",
        statement=f"the row's cells of {column} are those of the network {topology}",
        claimed={f"{name} {named}": values[at] for name, values in TABLE_5[nodes].items()},
        grid=networks(topology, [topology]),
        cost=lambda topology: nodes / 4096,
        measured=found,
        cause=cause,
    )


DLH_ROWS = [_row_of(nodes, "dlh", "DLH", dlh_of(nodes)) for nodes in ROWS]

STH_ROWS = [
    _row_of(nodes, f"sth-{kind}", f"STH {kind}", sth_of(nodes, kind), cause)
    for nodes in ROWS
    for kind, cause in (("tq", "cube"), ("cq", ""))
]


@claim(
    "STH-T5-hx",
    place="table 5",
    statement="the row's cells of Hex-Cell are those of a Hex-Cell of N nodes",
    relation="exists",
    grid=over("the 8 rows, N=2^10..2^17", nodes=ROWS),
    note="No Hex-Cell has so many nodes: 6 d^2 = 2^k has no solution.",
    cause="hexcell",
)
def hexcells(nodes: int) -> Measured:
    """Try the two Hex-Cells whose sizes are next to N."""
    printed = {name: values[1] for name, values in TABLE_5[nodes].items()}
    # 6 d^2 = 2^k has no solution, so the two nearest sizes show how far the printed row is off.
    below, above = near = hexcell_up_to(nodes), hexcell_from(nodes)
    for topology in near:
        if size_of(topology) == nodes and four_cells(topology) == printed:
            return Measured(True, {"hexcell": topology})
    sizes = {
        "next smaller": [below, size_of(below)],
        "next larger": [above, size_of(above)],
    }
    return Measured(False, {"N": nodes, **sizes})

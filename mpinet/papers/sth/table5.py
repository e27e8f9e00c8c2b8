"""Table 5: diameter, links, cost factor and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mpinet.claims import Claim, Measured, claim, over
from mpinet.measure.wiring import opened
from mpinet.papers.sth.formulas import basic_cells
from mpinet.papers.sth.grids import (
    KINDS,
    dlh_of,
    hexcell_from,
    hexcell_up_to,
    networks,
    size_of,
    sth_of,
)
from mpinet.papers.sth.measured import degree, extent, links
from mpinet.papers.sth.printed import ROWS, TABLE_5

COLUMNS = ("DLH", "HX", "STH")


def cells(groups: Mapping[str, Sequence[float]], columns: tuple[str, ...]) -> dict[str, float]:
    """The cells of a row by name: measure and network."""
    return {
        f"{name} {column}": value
        for name, values in groups.items()
        for column, value in zip(columns, values, strict=True)
    }


def _by_formulas(nodes: int) -> Claim:
    """A row of the table."""

    @claim(
        f"STH-T5-{nodes}",
        place=f"table 5, row {nodes}",
        statement="the row's 12 cells follow from the paper's formulas (Hex-Cell: at sqrt(N/6) "
        "levels)",
        claimed=cells(TABLE_5[nodes], COLUMNS),
    )
    def found() -> dict[str, float]:
        return cells(basic_cells(nodes), COLUMNS)

    return found


BY_FORMULAS = [_by_formulas(nodes) for nodes in ROWS]


def four_cells(topology: str) -> dict[str, int]:
    """The row's four measures of one network."""
    d, D, L = degree(topology), extent(topology).diameter, links(topology)
    return {"D": D, "L": L, "d*D": d * D, "L*D": L * D}


def _measured(nodes: int, network: str, column: str, named: str, topology: str) -> Claim:
    """The four cells of one network in a row."""
    at = COLUMNS.index(column)
    printed = {f"{name} {named}": values[at] for name, values in TABLE_5[nodes].items()}

    @claim(
        f"STH-T5-{nodes}-{network}",
        place=f"table 5, row {nodes}",
        statement=f"the row's cells of {column} are those of the network {topology}",
        claimed=printed,
        grid=networks(topology, [topology]),
        cost=lambda topology: nodes / 4096,
    )
    def found(topology: str) -> Measured:
        source, target = extent(topology).ends
        cells = {f"{name} {named}": value for name, value in four_cells(topology).items()}
        return Measured(cells, {"source": source, "target": target})

    return found


DLH_ROWS = [_measured(nodes, "dlh", "DLH", "DLH", dlh_of(nodes)) for nodes in ROWS]

STH_ROWS = [
    _measured(nodes, f"sth-{kind}", "STH", f"STH {kind}", sth_of(nodes, kind))
    for nodes in ROWS
    for kind in KINDS
    if kind != "hkv"
]


def _hexcell_cells(nodes: int) -> dict[str, float]:
    return {name: values[1] for name, values in TABLE_5[nodes].items()}


@claim(
    "STH-T5-hx",
    place="table 5",
    statement="the row's cells of Hex-Cell are those of a Hex-Cell of N nodes",
    relation="exists",
    grid=over("the 8 rows, N=2^10..2^17", nodes=ROWS),
)
def hexcells(nodes: int) -> Measured:
    """Look at the two Hex-Cells whose sizes are next to N."""
    for near in (hexcell_up_to(nodes), hexcell_from(nodes)):
        if opened(near).size == nodes and four_cells(near) == _hexcell_cells(nodes):
            return Measured(True, {"hexcell": near})
    below, above = hexcell_up_to(nodes), hexcell_from(nodes)
    return Measured(
        False,
        {
            "N": nodes,
            "next smaller": [below, size_of(below)],
            "next larger": [above, size_of(above)],
        },
    )

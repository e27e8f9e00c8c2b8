"""``mpinet compare``: compare networks in a table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from mpinet.base.files import require_writable, write_text
from mpinet.commands.compare import CompareOptions
from mpinet.commands.job import Job, Watch
from mpinet.commands.options import joined
from mpinet.errors import UsageError
from mpinet.experiments.compare import COLUMNS, MOST_EFFORT, TIMED, columns_of, row_of
from mpinet.jobs.opening import networks_in, topology_named
from mpinet.machine.transport import Local, hosted_by
from mpinet.networks.topology import Topology
from mpinet.report.files import as_csv
from mpinet.report.latex import latex_table
from mpinet.report.networkcolumns import network_columns
from mpinet.report.rows import Row
from mpinet.report.tables import cell_text, room, table


def prepare(options: CompareOptions) -> Job:
    """Open the networks, select the columns, and return the job."""
    named = networks_in(options.topologies)
    if not named:
        raise UsageError("compare: name at least one network.")
    if options.output is not None:
        require_writable(Path(options.output))
    if not 0 <= options.effort <= MOST_EFFORT:
        raise UsageError(f"--effort is 0..{MOST_EFFORT} seconds, not {options.effort}.")
    networks = [topology_named(one) for one in named]
    return Compare(options, networks, columns_of(joined(options.only)))


@dataclass(eq=False, repr=False)
class Compare(Job):
    """Networks to compare."""

    unit = "cells"

    _options: CompareOptions
    _networks: list[Topology]
    _columns: list[str]

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Measure all networks in turn, and return a row per network."""
        rows, done = [], count()
        cells = len(self._networks) * len(self._columns)

        def begins(what: str) -> None:
            watch(next(done), cells, None, what)

        for network in self._networks:
            with hosted_by(transport):
                rows.append(row_of(network, self._columns, self._options.effort, begins))
        # Progress counts cells as they begin. This call counts the end of the last cell.
        watch(cells, cells)
        if transport.rank == 0 and self._options.output is not None:
            write_text(Path(self._options.output), self.show(rows) + "\n")
        return rows

    def rows(self, result: list[Row]) -> list[Row]:
        """Return one row per network, with the bounds of the bisection in separate columns."""
        return [{k: v for k, v in row.items() if k != "left_out"} for row in result]

    def lasting(self, result: list[Row]) -> list[Row]:
        """Return the rows without bounds that a faster computer may improve."""
        return [
            {k: v for k, v in row.items() if k != TIMED or v is None or v["lower"] == v["upper"]}
            for row in result
        ]

    def show(self, result: list[Row]) -> str:
        """Format the rows as the options ask; below a table, list the reasons for empty columns."""
        if self._options.format == "csv":
            # CSV has no nested columns, and readers of the file group rows by family and
            # parameters.
            described = [_described(row) for row in self.rows(result)]
            return as_csv(described).replace("\r\n", "\n").rstrip()
        heading, rows = self._cells(result)
        reasons = self._reasons(result)
        if self._options.format == "latex":
            below = "\n".join(f"% {line}" for line in reasons)
            return f"{latex_table(heading, rows)}{below}".rstrip("\n")
        return "\n".join([*_blocks(heading, rows), *(["", *reasons] if reasons else [])])

    def remarks(self, result: list[Row]) -> list[str]:
        """Return the reasons for empty cells of a CSV, which has no room for reasons."""
        return self._reasons(result) if self._options.format == "csv" else []

    @staticmethod
    def _reasons(result: list[Row]) -> list[str]:
        """Return the reasons for empty columns, one per line."""
        reasons: dict[str, list[str]] = {}
        for row in result:
            for name, reason in row["left_out"].items():
                reasons.setdefault(reason, []).append(f"{COLUMNS[name].label} of {row['topology']}")
        return [f"{', '.join(_shortened(what))}: {why}" for why, what in reasons.items()]

    def _cells(self, result: list[Row]) -> tuple[list[str], list[list[str]]]:
        """Return a table with a column per network and a row per measure."""
        heading = ["", *(row["topology"] for row in result)]
        rows = [
            [COLUMNS[name].label, *(_shown(row[name]) for row in result)] for name in self._columns
        ]
        return heading, rows


def _described(row: Row) -> Row:
    """Return the row with plain cells, and with the network's family and parameters."""
    columns = network_columns(row["topology"])
    return _flat({"topology": row["topology"], **columns, **row})


def _flat(row: Row) -> Row:
    """Return the row with plain cells."""
    return {
        key: value
        for name, cell in row.items()
        for key, value in (
            ((f"{name}.{part}", one) for part, one in cell.items())
            if isinstance(cell, dict)
            else ((name, cell),)
        )
    }


def _shown(value: Any) -> str:
    """Format a value, or bounds as a range."""
    if isinstance(value, dict):
        low, high = value["lower"], value["upper"]
        return str(low) if low == high else f"{low}..{high}"
    return f"{value:.2f}" if isinstance(value, float) else cell_text(value)


def _shortened(names: list[str], most: int = 3) -> list[str]:
    """Format the first names, and the number of further names."""
    return names if len(names) <= most else [*names[:most], f"{len(names) - most} more"]


def _blocks(heading: list[str], rows: list[list[str]]) -> list[str]:
    """Split a table into blocks of the terminal's width, stacked vertically."""
    width = room()
    first = max(len(row[0]) for row in rows)
    blocks: list[list[int]] = [[]]
    used = first
    for column in range(1, len(heading)):
        wide = 2 + max(len(line[column]) for line in (heading, *rows))
        if blocks[-1] and used + wide > width:
            blocks.append([])
            used = first
        blocks[-1].append(column)
        used += wide
    lines: list[str] = []
    for columns in blocks:
        part = [[row[0], *(row[column] for column in columns)] for row in rows]
        text = table(part, ["", *(heading[column] for column in columns)])
        lines += ["", text] if lines else [text]
    return lines

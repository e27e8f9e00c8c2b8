"""Edge lists: one edge per line, as words or as columns that a header line names."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING

from mpinet.base.arrays import Table
from mpinet.base.formats import MARK
from mpinet.base.numerals import quoted
from mpinet.networks.graphfiles.numbered import read_numbers

if TYPE_CHECKING:
    import networkx

ENDS = ("source", "target")
"""Names of the first two columns of a CSV file."""

ATTRIBUTES = ("bandwidth", "capacity", "class", "latency", "time_byte")
"""Names of the attributes of an edge list."""


def read_edge_list(data: bytes) -> networkx.Graph | Table:
    """Read one edge per line: two labels, then attributes ``name=value``; ``#`` starts a comment.

    Repeated lines are parallel links, as are edges with a ``capacity``. A list of whole
    numbers alone is returned as an array (`read_numbers`).
    """
    numbers = read_numbers(data)
    if numbers is not None:
        return numbers
    import networkx

    graph = networkx.MultiGraph()
    lines = data.decode().splitlines()
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].replace(",", " ").split()
        said = [word.partition("=")[::2] for word in words[2:] if "=" in word]
        if words and len(words) != 2 + len(said):
            raise ValueError(
                f"line {number} has {len(words)} words, not the two ends of a link and "
                "attributes name=value"
            )
        if unknown := sorted(dict(said).keys() - {*ATTRIBUTES}):
            raise ValueError(f"line {number}: {unknown[0]} is not one of {', '.join(ATTRIBUTES)}")
        if words:
            graph.add_edge(*words[:2], **dict(said))
    return graph


def read_csv(data: bytes) -> networkx.Graph | Table:
    """Read an edge list whose first line names its columns: ``source,target``, then attributes.

    Without this line the file is read as an ordinary edge list. An empty cell means no attribute.
    """
    head, _, rest = data.removeprefix(MARK).partition(b"\n")
    columns = [name.strip() for name in next(csv.reader([head.decode().strip()]), [])]
    if columns[: len(ENDS)] != [*ENDS]:
        return read_edge_list(data.removeprefix(MARK))
    if unknown := [name for name in columns[len(ENDS) :] if name not in ATTRIBUTES]:
        raise ValueError(f"line 1: {quoted(unknown[0])} is not one of {', '.join(ATTRIBUTES)}")
    if columns == [*ENDS]:
        numbers = read_numbers(rest)
        if numbers is not None:
            return numbers
    import networkx

    graph = networkx.MultiGraph()
    rows = csv.reader(StringIO(rest.decode(), newline=""))
    for row in rows:
        cells = [cell.strip() for cell in row]
        if any(cells) and (len(cells) != len(columns) or not all(cells[: len(ENDS)])):
            raise ValueError(
                f"line {rows.line_num + 1} has {len(cells)} cells, not the two ends of a link and "
                "one cell for each further column"
            )
        if any(cells):
            said = zip(columns[len(ENDS) :], cells[len(ENDS) :], strict=True)
            graph.add_edge(*cells[: len(ENDS)], **{name: text for name, text in said if text})
    return graph

"""Edge lists: an edge a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpinet.base.arrays import Table
from mpinet.networks.graphfiles.numbered import read_numbers

if TYPE_CHECKING:
    import networkx

ATTRIBUTES = ("bandwidth", "capacity", "class", "latency", "time_byte")
"""Names of what an edge list says of a link."""


def read_edge_list(data: bytes) -> networkx.Graph | Table:
    """An edge a line, two labels, then attributes ``name=value``; ``#`` starts a comment.

    Repeated lines are parallel links, and so is an edge with a ``capacity``. A list of whole
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
                f"line {number} has {len(words)} words, not the two ends of a link and what "
                "stands behind them as name=value"
            )
        if unknown := sorted(dict(said).keys() - {*ATTRIBUTES}):
            raise ValueError(f"line {number}: {unknown[0]} is none of {', '.join(ATTRIBUTES)}")
        if words:
            graph.add_edge(*words[:2], **dict(said))
    return graph

"""Nodes and links of a file, collected by its reader."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from mpinet.base.units import SECONDS

if TYPE_CHECKING:
    import networkx

MOST_LINKS = 1 << 20
"""Most links that a file's short descriptions, or edges' capacities, may expand to."""

MOST_NAMED = 6
"""Most names in a note about ignored properties."""

COSTS = ("latency", "time_byte")


class Wiring:
    """Nodes in the order of the file, and links with their costs."""

    def __init__(self) -> None:
        import networkx

        self.graph: networkx.MultiGraph = networkx.MultiGraph()
        """The graph read so far."""
        self._ignored = dict[str, dict[str, None]]()
        self._links = 0  # networkx counts links one by one

    def add(self, node: str, switch: bool) -> None:
        """Add a node; raise `ValueError` for too many nodes or a repeated name."""
        if node in self.graph:
            raise ValueError(f"there are two nodes {node}")
        self.require_room(1)
        self.graph.add_node(node, switch=switch)

    def require_room(self, more: int) -> None:
        """Raise `ValueError` unless `more` nodes or links may be added."""
        if max(len(self.graph), self._links) + more > MOST_LINKS:
            raise ValueError(f"it has more than {MOST_LINKS} nodes or links")

    def link(
        self, u: str, v: str, latency: Fraction | None = None, rate: Fraction | None = None
    ) -> None:
        """Add a link with a latency in seconds and a bandwidth in bytes per second, if known."""
        self.require_room(1)
        self._links += 1
        self.graph.add_edge(u, v, **attributes(latency, rate))

    def ignore(self, what: str, name: str) -> None:
        """Record an ignored property of the file, and the name of an element with it."""
        self._ignored.setdefault(what, {})[name] = None

    def finished(self) -> networkx.MultiGraph:
        """Return the graph without costs that only some links have."""
        for name in COSTS:
            has = [name in said for _, _, said in self.graph.edges(data=True)]
            if not all(has):
                for _, _, said in self.graph.edges(data=True):
                    said.pop(name, None)
        self.graph.graph["ignored"] = [
            f"{what}: {', '.join([*names][:MOST_NAMED])}"
            + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
            for what, names in self._ignored.items()
        ]
        return self.graph


@cache
def attributes(latency: Fraction | None, rate: Fraction | None) -> Mapping[str, Any]:
    """Return an edge's attributes for a latency and a bandwidth: texts, and the exact bandwidth.

    Files of other programs have costs of many digits. Texts are rounded to the femtosecond, because
    a run's tick would otherwise be too short.
    """
    costs = {"latency": latency, "time_byte": None if rate is None else 1 / rate}
    said = {
        name: written(Fraction(round(cost * 10**15), 10**15))
        for name, cost in costs.items()
        if cost is not None
    }
    return said if rate is None else said | {"bandwidth": rate}


def written(seconds: Fraction) -> str:
    """Return a time as text in the largest unit in which it is whole, else in femtoseconds.

    Examples
    --------
    >>> written(Fraction(1, 125_000_000)), written(1 / Fraction(300 * 10**9))
    ('8ns', '10000/3fs')
    """
    whole = (unit for unit, size in SECONDS.items() if (seconds / size).denominator == 1)
    unit = next(whole, "fs")
    return f"{seconds / SECONDS[unit]}{unit}"

"""Classes of links, from the attributes of a graph's edges.

``class`` is the number of a class, from 0. ``latency`` and ``time_byte`` are costs in the notation
of the options of the same names (``500``, ``1.5us``, ``25GB/s``). Each combination of costs is a
class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from mpinet.base.numerals import quoted
from mpinet.base.units import byte_time, duration
from mpinet.errors import TopologyError, UsageError

if TYPE_CHECKING:
    import networkx

READERS: dict[str, Callable[..., Fraction]] = {"latency": duration, "time_byte": byte_time}
"""Function that reads each attribute."""

MOST_CLASSES = 1 << 16


class LinkClasses(NamedTuple):
    """Classes of a graph's edges."""

    kinds: Sequence[int]
    """The class of each edge, in the graph's order; empty if all edges are of class 0."""
    names: tuple[str, ...]
    """Names of the classes."""
    costs: Mapping[str, tuple[str, ...]]
    """Latency and time per byte of each class, if edges have these attributes."""


ONE_CLASS = LinkClasses((), ("link",), {})
"""Classes of a graph whose edges have no such attributes."""


def link_classes(where: str, graph: networkx.Graph) -> LinkClasses:
    """Read the link classes from the attributes of a graph's edges.

    Raises
    ------
    TopologyError
        An attribute is not a class or cost, or only some edges have it.
    """
    classes = _column(where, graph, "class", _class_number)
    costs = {
        name: column
        for name, read in READERS.items()
        if (column := _column(where, graph, name, partial(read, unit="fs")))
    }
    if classes and costs:
        raise TopologyError(
            f"{where}: links have a class and a {next(iter(costs))}; give one of both, because "
            "costs define classes."
        )
    if classes:
        kinds = [int(text) for text in classes]
        return LinkClasses(kinds, tuple(f"class {kind}" for kind in range(max(kinds) + 1)), {})
    if not costs:
        return ONE_CLASS
    rows = [*zip(*costs.values(), strict=True)]
    # Classes are numbered in the order of the file. A sort of the costs would compare units as
    # texts.
    places = {row: place for place, row in enumerate(dict.fromkeys(rows))}
    names = tuple(
        ", ".join(f"{name} {text}" for name, text in zip(costs, row, strict=True)) for row in places
    )
    by_class = dict(zip(costs, zip(*places, strict=True), strict=True))
    return LinkClasses([places[row] for row in rows], names, by_class)


def _column(
    where: str, graph: networkx.Graph, name: str, read: Callable[[str], object]
) -> list[str]:
    """Return the texts of an attribute, edge by edge; an empty list if no edge has it."""
    texts, known, without = list[str](), set[str](), None
    for u, v, value in graph.edges(data=name):
        if value is None:
            without = (u, v)
            continue
        texts.append(str(value))
        # Reading a cost takes exact fractions. Files have few different costs, and each is read
        # once.
        if texts[-1] in known:
            continue
        known.add(texts[-1])
        try:
            read(texts[-1])
        except (UsageError, ValueError) as error:
            raise TopologyError(
                f"{where}: the {name} of the link between {u} and {v}: {str(error).rstrip('.')}."
            ) from None
    if texts and without is not None:
        u, v = without
        raise TopologyError(
            f"{where}: the link between {u} and {v} has no {name}, unlike other links."
        )
    return texts


def _class_number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and int(text) < MOST_CLASSES):
        raise ValueError(f"a class is a whole number 0..{MOST_CLASSES - 1}, not {quoted(text)}")
    return int(text)

"""Classes of links that the edges' attributes of a graph make.

``class`` is a class's number, 0, 1, ..; ``latency`` and ``time_byte`` are costs, as the options of
the same names are (``500``, ``1.5us``, ``25GB/s``), and each combination of them is a class.
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
"""Attribute -> function that reads it."""

MOST_CLASSES = 1 << 16


class LinkClasses(NamedTuple):
    """Classes of a graph's edges."""

    kinds: Sequence[int]
    """The class of each edge, in their order; empty: all are of class 0."""
    names: tuple[str, ...]
    """The classes' names."""
    costs: Mapping[str, tuple[str, ...]]
    """Latency and time per byte of each class, where edges have them."""


ONE_CLASS = LinkClasses((), ("link",), {})
"""The classes of links of which nothing is said."""


def link_classes(where: str, graph: networkx.Graph) -> LinkClasses:
    """Read the attributes of a graph's edges.

    Raises
    ------
    TopologyError
        One is no class or cost, or some edges have it and others do not.
    """
    classes = _column(where, graph, "class", _class_number)
    costs = {
        name: column
        for name, read in READERS.items()
        if (column := _column(where, graph, name, partial(read, unit="fs")))
    }
    if classes and costs:
        raise TopologyError(
            f"{where}: links have a class and a {next(iter(costs))}; give either, as costs make "
            "classes."
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
    """Return the texts of an attribute, edge by edge; none where no edge has it."""
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
            f"{where}: the link between {u} and {v} has no {name}, and others have one."
        )
    return texts


def _class_number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and int(text) < MOST_CLASSES):
        raise ValueError(f"a class is a whole number 0..{MOST_CLASSES - 1}, not {quoted(text)}")
    return int(text)

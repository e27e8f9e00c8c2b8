"""Capacities from bandwidths: messages per step are proportional to bandwidth.

``graph:FILE,bandwidth`` takes the greatest common divisor of all links' bandwidths as the unit.
``graph:FILE,bandwidth=25GB/s`` gives the unit. A link of k units becomes k parallel links.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import TYPE_CHECKING

import numpy as np

from mpinet.base.arrays import Table
from mpinet.base.units import byte_time, rate
from mpinet.errors import TopologyError, UsageError
from mpinet.networks.graphfiles.wiring import written

if TYPE_CHECKING:
    import networkx

ASKED = re.compile(r"(.+),bandwidth(?:=([^,]+))?", re.DOTALL)
"""A file's name, followed by the argument ``bandwidth`` with an optional unit."""


def split_wish(text: str) -> tuple[str, bool, str | None]:
    """Return the file's name, whether bandwidths become capacities, and the given unit.

    Examples
    --------
    >>> split_wish("box.edges,bandwidth=25GB/s"), split_wish("box.edges")
    (('box.edges', True, '25GB/s'), ('box.edges', False, None))
    """
    found = ASKED.fullmatch(text)
    return (found[1], True, found[2]) if found else (text, False, None)


def with_capacities(where: str, graph: networkx.Graph | Table, unit: str | None) -> networkx.Graph:
    """Return the graph with capacities instead of bandwidths, and the unit's time per byte.

    Parameters
    ----------
    where : str
        Start of error messages.
    graph : networkx.Graph, or ndarray of int64, shape (L, 2)
        The edges have a ``bandwidth``, or a ``time_byte``, and no ``capacity``. An array has no
        attributes and is rejected.
    unit : str, optional
        A bandwidth such as ``25GB/s``. Default: the greatest common divisor of all bandwidths.

    Raises
    ------
    TopologyError
        An edge has no bandwidth, or its bandwidth is not a multiple of the unit.
    """
    if isinstance(graph, np.ndarray):
        u, v = graph[0].tolist()
        raise TopologyError(f"{where}: the link between {u} and {v} has no bandwidth.")
    if graph.number_of_edges() == 0:
        return graph  # rejected later, as a network without links
    rates = [_rate_of(where, u, v, said) for u, v, said in graph.edges(data=True)]
    try:
        each = _common(rates) if unit is None else rate(unit)
    except UsageError as error:
        raise TopologyError(f"{where}: {error}") from None
    found = graph.copy()
    for (u, v, said), own in zip(found.edges(data=True), rates, strict=True):
        copies = own / each
        if copies.denominator != 1:
            raise TopologyError(
                f"{where}: the link between {u} and {v} carries {float(own):.6g} bytes a second, "
                f"which is no multiple of {float(each):.6g}."
            )
        said["capacity"] = int(copies)
        said.pop("bandwidth", None)
        if "time_byte" in said:
            said["time_byte"] = written(1 / each)
    return found


def _rate_of(where: str, u: object, v: object, said: dict[str, object]) -> Fraction:
    """Return the bandwidth of an edge in bytes per second."""
    try:
        if "capacity" in said:
            raise UsageError("the link also has a capacity; give one of both.")
        given = said.get("bandwidth")
        if isinstance(given, Fraction):
            return given
        if given is not None:
            return rate(str(given))
        if "time_byte" in said:
            return 10**15 / byte_time(str(said["time_byte"]), "fs")
        raise UsageError("the link has none.")
    except (UsageError, ZeroDivisionError) as error:
        reason = "it is infinite." if isinstance(error, ZeroDivisionError) else error
        raise TopologyError(
            f"{where}: the bandwidth of the link between {u} and {v}: {reason}"
        ) from None


def _common(rates: list[Fraction]) -> Fraction:
    """Return the greatest common divisor of the rates; 0 without rates."""
    whole = reduce(lcm, (one.denominator for one in rates), 1)
    return Fraction(reduce(gcd, (int(one * whole) for one in rates), 0), whole)

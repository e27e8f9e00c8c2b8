"""Census of all routes of the paper's routing on a G(m,N), walked link by link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.claims import Measured
from mpinet.claims.remembered import remembered
from mpinet.compiled import inlined
from mpinet.measure.pairs import Pairs
from mpinet.networks import open as open_topology
from mpinet.networks.gmn.parameters import (
    EVEN_ABOVE,
    FIRST_HOP,
    HALF,
    RANGE,
    SECTOR,
    TYPES,
    UP,
    position_of,
    token_at,
)
from mpinet.networks.gmn.walk import EVEN, cheaper_class, count_hops, span
from mpinet.networks.walks import arrived, rules, walk
from mpinet.papers.witness import at_pair

LOST, LONGEST, WALKED, TURNED, KINDS = range(5)
"""Indices of the recorded extremes: lost routes; the longest route; the most edges outside of H and
the diagonal; the same in subcase 1a with traversal 2.
"""

CYCLIC, HOPS_0, PARTS = range(3)
"""Indices of the counted edges of a route: edges of the ring, and hops of type 0."""


@dataclass(frozen=True)
class Census:
    """Extremes over all ordered pairs of different nodes."""

    pairs: int
    """Number of ordered pairs."""
    lost: Measured
    """Number of routes that do not reach their target, with the first such pair."""
    longest: Measured
    """Number of hops of the longest route, with the first pair."""
    walked: Measured
    """Largest number of edges of a route outside of H and the diagonal, with the first pair."""
    turned: Measured
    """Largest number of edges outside of H and the diagonal, over routes of subcase 1a with
    traversal 2, with the first pair.
    """


@remembered(most=4)
def census(topology: str) -> Census:
    """Walk all routes of a G(m,N)."""
    network = open_topology(topology)
    found = np.zeros((KINDS, 3), np.int64)
    routing = network.routing("source")
    hops = np.empty(routing.params[TYPES] + 2, np.int64)
    notes = WalkCounts(routing.params, np.zeros(PARTS, np.int64), hops, found)
    for sources, targets in Pairs(network).parts():
        walk_all(rules(network, routing), sources.copy(), targets.copy(), notes)
    extremes = [
        at_pair(count, (source, target)) if count else Measured(0)
        for count, source, target in found.tolist()
    ]
    return Census(network.size * (network.size - 1), *extremes)


class WalkCounts(NamedTuple):
    """Arguments and results of `walk_all`: counts of the current route, and the extremes."""

    params: Ints
    parts: Ints
    hops: Ints
    found: Table


@inlined
def note_edge(visit, header, notes):
    """Count an edge of the current route."""
    book_part(visit.node, visit.port, notes.params, notes.parts)
    return False


@inlined
def note_route(visit, header, notes):
    """Compare a finished route with the extremes, and reset the counts."""
    found, source, target = notes.found, visit.source, visit.target
    if arrived(visit):
        book(LONGEST, visit.hops, source, target, found)
        judge_route(source, target, notes.parts, notes.hops, notes.params, found)
    else:
        found[LOST, 0] += 1
        if found[LOST, 0] == 1:
            found[LOST, 1], found[LOST, 2] = source, target
    notes.parts[:] = 0
    return False


walk_all = walk.bind("walk_all", notes=WalkCounts, hop=note_edge, ended=note_route)


@inlined
def book(kind, value, source, target, found):
    """Record a value and its pair if the value is larger than before."""
    if value > found[kind, 0]:
        found[kind, 0], found[kind, 1], found[kind, 2] = value, source, target


@inlined
def book_part(node, port, params, parts):
    """Count an edge of a route by its kind."""
    if port < UP:
        parts[CYCLIC] += 1
    elif (token_at(node % params[SECTOR], params) - FIRST_HOP) >> 1 == 0:
        parts[HOPS_0] += 1


@inlined
def judge_route(source, target, parts, hops, params, found):
    """Separate the hops of H from other edges of a route, and record extremes by subcase."""
    m, half = params[SECTOR], params[HALF]
    ahead = (target - source) % (2 * half * m)
    # Within a sector's length the route uses only the ring, and no set H of hops is chosen.
    if ahead <= m or 2 * half * m - ahead <= m:
        book(WALKED, parts[CYCLIC], source, target, found)
        return
    first, last = min(source % m, target % m), max(source % m, target % m)
    sectors = (target // m - source // m) % (2 * half)
    sectors = min(sectors, 2 * half - sectors)
    # This is the routing's own condition for the diagonal, so the census matches the routes.
    diagonal = not 0 < sectors <= params[RANGE]
    number = half - sectors if diagonal else sectors
    kind = cheaper_class(number)
    above = (kind == EVEN) == (params[EVEN_ABOVE] != 0)
    count_hops(number, kind, hops)
    # Section 3.2 allows one additional hop of type 0, which counts as an edge of the ring.
    besides = parts[CYCLIC] + max(0, parts[HOPS_0] - abs(hops[0]))
    book(WALKED, besides, source, target, found)
    border = position_of(0, params)
    least, most = span(hops, params)
    if diagonal:
        least, most = min(least, m if above else 0), max(most, m if above else 0)
    traversal_1 = first + last < m if above else first + last > m
    outside = most >= 0 and (least > last or most < first)
    if first <= border <= last and outside and not traversal_1:
        book(TURNED, besides, source, target, found)

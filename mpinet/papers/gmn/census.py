"""All routes of the paper's routing on a G(m,N), walked link by link, and what they consist of."""

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
"""The extremes: routes that do not arrive; the longest one; the most edges that are neither hops
of H nor the diagonal; the same in subcase 1a where traversal 2 is taken."""

CYCLIC, HOPS_0, PARTS = range(3)
"""Edges of a route that are counted: those of the ring, hops of type 0."""


@dataclass(frozen=True)
class Census:
    """The extremes over all ordered pairs of different nodes."""

    pairs: int
    """Number of ordered pairs."""
    lost: Measured
    """Number of routes that do not arrive, and the first such pair."""
    longest: Measured
    """Hops of the longest route, and the first pair with it."""
    walked: Measured
    """Most edges of a route besides H and the diagonal, and the first pair with so many."""
    turned: Measured
    """Most edges besides H and the diagonal of a route of subcase 1a by traversal 2, and the first
    pair with so many."""


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
    """Arguments and results of `walk_all`: counts of the route under way, and the extremes."""

    params: Ints
    parts: Ints
    hops: Ints
    found: Table


@inlined
def note_edge(visit, header, notes):
    """Count an edge of the route under way."""
    book_part(visit.node, visit.port, notes.params, notes.parts)
    return False


@inlined
def note_route(visit, header, notes):
    """Note of which extremes a route is, and begin to count anew."""
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
    """Note a larger value and its pair."""
    if value > found[kind, 0]:
        found[kind, 0], found[kind, 1], found[kind, 2] = value, source, target


@inlined
def book_part(node, port, params, parts):
    """Count an edge of a route for what it is."""
    if port < UP:
        parts[CYCLIC] += 1
    elif (token_at(node % params[SECTOR], params) - FIRST_HOP) >> 1 == 0:
        parts[HOPS_0] += 1


@inlined
def judge_route(source, target, parts, hops, params, found):
    """Tell the hops of H from the other edges of a route, and subcase 1a from the others."""
    m, half = params[SECTOR], params[HALF]
    ahead = (target - source) % (2 * half * m)
    # Within a sector's length the ring alone is the route: no set H of hops is chosen there.
    if ahead <= m or 2 * half * m - ahead <= m:
        book(WALKED, parts[CYCLIC], source, target, found)
        return
    first, last = min(source % m, target % m), max(source % m, target % m)
    sectors = (target // m - source // m) % (2 * half)
    sectors = min(sectors, 2 * half - sectors)
    # The routing's own condition, so that the census tells H from the diagonal as the routes were
    # made.
    diagonal = not 0 < sectors <= params[RANGE]
    number = half - sectors if diagonal else sectors
    kind = cheaper_class(number)
    above = (kind == EVEN) == (params[EVEN_ABOVE] != 0)
    count_hops(number, kind, hops)
    # Section 3.2 allows one additional hop of type 0, and counts it with the edges of the ring.
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

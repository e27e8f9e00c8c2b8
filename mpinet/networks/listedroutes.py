"""Routing by listed routes of a file: the source looks up its route, and the header counts hops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from mpinet.compiled import rule
from mpinet.networks.graph import StoredGraph
from mpinet.networks.routing import ARRIVED, STUCK, Routing

COUNT, KEYS = 2, 3
"""Places in the rules' parameters: the number of routes, and their keys ``source * N + target``,
ascending. The routes' first places follow, then the ports of all hops.
"""

Routes = Mapping[tuple[int, int], Sequence[int]]
"""Nodes of each route by source and target, both ends included."""


def listed_routing(topology: StoredGraph, routes: Routes) -> Routing:
    """Return the routing by listed routes; messages of other pairs are undeliverable.

    Of parallel links between two nodes a route takes the lowest port.
    """
    begin, others = topology.neighbor_lists()
    keys, starts, ports = list[int](), list[int](), list[int]()
    for (source, target), nodes in sorted(routes.items()):
        keys.append(source * topology.size + target)
        starts.append(len(ports))
        for node, following in pairwise(nodes):
            behind = others[begin[node] : begin[node + 1]]
            # Neighbours are stored in ascending order, and bisection finds the port. The
            # leftmost hit is the lowest parallel link.
            ports.append(int(np.searchsorted(behind, following)))
    first = KEYS + 2 * len(keys)
    head = [topology.size, topology.ports, len(keys)]
    bits = max(1, (topology.size - 1).bit_length()) + max(1, len(ports).bit_length())
    return Routing(
        name="routes",
        decide=decide,
        params=np.array([*head, *keys, *(first + start for start in starts), *ports], np.int64),
        header_bits=lambda source, target: bits,
        start=start,
        words=2,
        shortest=False,
        stateless=False,
    )


@rule
def start(source, target, header, params):
    """Find the route by bisection; write the target and the next port's place."""
    # Only pairs with a route are stored, sorted. A table of all pairs would be mostly empty.
    key, low, high = source * params[0] + target, 0, params[COUNT]
    while low < high:
        middle = (low + high) // 2
        if params[KEYS + middle] < key:
            low = middle + 1
        else:
            high = middle
    found = low < params[COUNT] and params[KEYS + low] == key
    header[0] = target
    header[1] = params[KEYS + params[COUNT] + low] if found else -1


@rule
def decide(node, header, params):
    """Return the next port of the route."""
    if node == header[0]:
        return ARRIVED
    if header[1] < 0:
        return STUCK
    header[1] += 1
    return params[header[1] - 1]

"""Routing tables of users: a CSV file lists the next hop at each node for each destination.

After a first line ``node,destination,next`` the third column is the next node. After
``node,destination,port`` the third column is the output port. Nodes are numbers or addresses. The
whole table is checked before any message moves: each hop is a link, and every processor reaches
all others.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.base.csvlines import csv_lines
from mpinet.base.numerals import is_whole, quoted
from mpinet.errors import NodeError, UsageError
from mpinet.networks.routing import Routing, stateless
from mpinet.networks.shortest import (
    HERE,
    MAX_ENTRIES,
    UNREACHABLE,
    decide_by_pair,
    neighbor_table,
    packed,
)
from mpinet.networks.wired import Wired

PREFIX = "table:"
"""Prefix of a routing's name if the routing is a file."""

HEADINGS = (["node", "destination", "next"], ["node", "destination", "port"])


def routing_by_file(topology: Wired, path: Path) -> Routing:
    """Return the routing that a table in a file defines; its routes need not be shortest.

    Parameters
    ----------
    topology : Topology
        The network, of up to 5,792 nodes.
    path : Path
        The file.

    Raises
    ------
    FileError, UsageError
        The file cannot be read, a line is wrong, or some processor does not reach another one.
    """
    size = topology.size
    if size * size > MAX_ENTRIES:
        raise UsageError(
            f"A routing table of {topology.name} would have {size * size} entries; at most "
            f"{MAX_ENTRIES} are possible."
        )
    ports = read_ports(topology, path)
    neighbors = neighbor_table(topology)
    # The whole table is checked before any message moves. A routing loop found at run time would
    # look like a slow network.
    following = np.where(ports < 0, -1, neighbors[np.arange(size)[:, np.newaxis], ports])
    require_arrivals(topology, following, str(path))
    entries = np.full(-(-size * size // 4) * 4, UNREACHABLE, np.uint16)
    entries[: size * size] = np.where(ports < 0, UNREACHABLE, ports).ravel()
    entries[: size * size : size + 1] = HERE
    params = np.concatenate([np.array([size, topology.ports, size]), packed(entries)])
    return stateless(f"{PREFIX}{path.name}", decide_by_pair, topology, params, shortest=False)


def read_ports(topology: Wired, path: Path) -> Table:
    """Read the port at each node for each destination, shape (N, N); -1 if the file has no line."""
    rows = csv_lines(path)
    if not rows or rows[0] not in HEADINGS:
        raise UsageError(
            f"{path}: the first line of a routing table is "
            f"{' or '.join(','.join(heading) for heading in HEADINGS)}."
        )
    by_port = rows[0] == HEADINGS[1]
    neighbors = neighbor_table(topology).tolist()
    found = np.full((topology.size, topology.size), -1, np.int64)
    for row in rows[1:]:
        line = f"{path}: the line {quoted(','.join(row))}"
        if len(row) != 3:
            raise UsageError(f"{line} does not have the three fields {','.join(rows[0])}.")
        named = row[:2] if by_port else row
        try:
            node, destination, *ends = map(topology.find, named)
        except NodeError as error:
            raise UsageError(f"{line}: {error}") from None
        wired = neighbors[node]
        if by_port:
            port = int(row[2]) if is_whole(row[2]) and len(row[2]) < 6 else -1
            if not 0 <= port < len(wired) or wired[port] < 0:
                raise UsageError(f"{line}: node {node} has no port {quoted(row[2])} with a link.")
        else:
            end = ends[0]
            if end not in wired:
                raise UsageError(f"{line}: nodes {node} and {end} have no link between them.")
            # Parallel links have several ports. The lowest one is taken, as in all tables of
            # shortest routes.
            port = wired.index(end)
        if node == destination or found[node, destination] >= 0:
            said = "has arrived" if node == destination else "has another line"
            raise UsageError(f"{line}: a message to {destination} {said} at node {node}.")
        found[node, destination] = port
    return found


def require_arrivals(topology: Wired, following: Table, where: str) -> None:
    """Raise `UsageError` unless each processor reaches all others; the error names the first fault.

    Parameters
    ----------
    following : ndarray of int64, shape (N, N)
        The next node at each node towards each destination; -1 if the table has no entry.
    """
    size, hosts = topology.size, topology.hosts
    # An extra row after the last node collects lost messages. Every round doubles the number of
    # hops.
    at = np.vstack([following[:, :hosts], np.full((1, hosts), size)])
    at[at < 0] = size
    # A destination keeps arrived messages. Otherwise a line for a node's own messages would send
    # these on.
    at[np.arange(hosts), np.arange(hosts)] = np.arange(hosts)
    # Squaring the map of next nodes doubles the distance each time. After log2 N rounds every
    # message is at its destination, lost, or in a loop.
    for _ in range(size.bit_length()):
        at = np.take_along_axis(at, at, axis=0)
    astray = np.argwhere(at[:hosts] != np.arange(hosts))
    if not len(astray):
        return
    source, destination = map(int, astray[0])
    way = _walked(following[:, destination], source)
    if way[-1] < 0:
        raise UsageError(
            f"{where}: node {way[-2]} has no line for destination {destination}, and messages from "
            f"{source} to {destination} pass this node."
        )
    circle = way[way.index(way[-1]) :]
    raise UsageError(
        f"{where}: messages from {source} to {destination} go in a circle: "
        f"{', '.join(map(str, circle))}."
    )


def _walked(following: Ints, source: int) -> list[int]:
    """Return the nodes of a route until a node repeats or the table has no next node (-1)."""
    way, seen = [source], set[int]()
    while way[-1] >= 0 and way[-1] not in seen:
        seen.add(way[-1])
        way.append(int(following[way[-1]]))
    return way

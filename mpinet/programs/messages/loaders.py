"""Messages of a program that load its busy links."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import inlined
from mpinet.machine.timed.layout import SEND
from mpinet.machine.timed.program import Program
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.networks.walks import rules, walk

SHOWN = 3
"""Number of loads named per link, the largest ones."""


class WatchedLinks(NamedTuple):
    """Watched links, with the number of crossings of each pair's message."""

    places: Ints
    crossed: Table


@inlined
def note_crossing(visit, header, notes):
    """Count a hop over a watched link."""
    place = notes.places[visit.channel]
    if place >= 0:
        notes.crossed[visit.pair, place] += 1
    return False


note_crossings = walk.bind("note_crossings", notes=WatchedLinks, hop=note_crossing)


def comments_of(file: Path, lines: Ints) -> list[str]:
    """Return the comments after ``//`` on lines of a GOAL file, such as the line of a script."""
    text = file.read_bytes().split(b"\n")
    behind = {int(line): text[line - 1].partition(b"//")[2] for line in np.unique(lines).tolist()}
    return [behind[line].decode(errors="replace").strip() for line in lines.tolist()]


def loads_of(
    program: Program,
    topology: Topology,
    routing: Routing,
    links: Sequence[tuple[int, int]],
    both_ways: bool,
    said: Sequence[str] = (),
    places: Ints | None = None,
) -> list[list[dict[str, Any]]]:
    """Return the largest nonzero loads of each link, at most `SHOWN`, the largest first.

    Parameters
    ----------
    program : Program
        The program, on the network's processors.
    topology, routing : Topology, Routing
        Network and routing, with one path for each pair of processors.
    links : sequence of (int, int)
        Node and port of each link.
    both_ways : bool
        If True, messages in the opposite direction also load the link.
    said : sequence of str
        Name of each send, in the order of the program; default: its sender and receiver.
    places : ndarray of int64, optional
        Network processor of each program processor, if names use the program's numbers.

    Returns
    -------
    list of list of dict
        For each link, dictionaries with ``what`` and ``bytes``.
    """
    sends = np.flatnonzero(program.kind == SEND)
    sources = program.owners[sends]
    keys, which = np.unique(sources * topology.size + program.peer[sends], return_inverse=True)
    one, other = keys // topology.size, keys % topology.size
    watched = np.full(topology.size * topology.ports, -1, np.int64)
    for place, (node, port) in enumerate(links):
        watched[node * topology.ports + port] = place
        if both_ways:
            there = int(topology.neighbor(node, port))
            watched[there * topology.ports + int(topology.reverse_port(node, port))] = place
    apart = np.flatnonzero(one != other)
    crossed = np.zeros((len(keys), len(links)), np.int64)
    found = np.zeros((len(apart), len(links)), np.int64)
    note_crossings(rules(topology, routing), one[apart], other[apart], WatchedLinks(watched, found))
    crossed[apart] = found
    names: Any = said
    groups = which
    if said:
        names, groups = np.unique(np.array(said), return_inverse=True)
    numbers = np.arange(topology.size)
    if places is not None:
        numbers[places] = np.arange(len(places))

    def name(group: int) -> str:
        return str(names[group]) if said else f"{numbers[one[group]]} to {numbers[other[group]]}"

    sizes, loads = program.amount[sends], []
    for place in range(len(links)):
        sums = np.zeros(len(names) if said else len(keys), np.int64)
        np.add.at(sums, groups, crossed[which, place] * sizes)
        least = np.sort(sums)[-SHOWN:][0]
        largest = np.flatnonzero((sums >= least) & (sums > 0)).tolist()
        named = sorted((-int(sums[group]), name(group)) for group in largest)[:SHOWN]
        loads.append([{"what": what, "bytes": -size} for size, what in named])
    return loads

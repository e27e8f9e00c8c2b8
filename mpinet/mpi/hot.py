"""Slow places of a script's run: its busiest links, longest queues and longest waits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.mpi.world.accounts import Shares, numbered
from mpinet.mpi.world.metering import MeteredRouter, Site
from mpinet.mpi.world.world import World
from mpinet.networks.topology import Topology
from mpinet.process.telling import gathered

MOST = 10
"""Maximum number of links, queues and waiting processors in the report."""

LOADING = 3
"""Maximum number of lines in the report for one link."""

Row = dict[str, Any]


def hot(world: World, shares: Shares) -> Row | None:
    """Gather the meters of all ranks (collective).

    Parameters
    ----------
    world : World
        The run.
    shares : sequence of sequence of Account
        The accounts of all ranks, on rank 0.

    Returns
    -------
    dict or None
        ``busiest_links``, ``longest_queues``, ``waits`` by line and ``waiting`` by processor. Each
        is sorted by size, then by number. Empty on ranks other than 0. None without metering.
    """
    router, waits = world.transit.router, world.waits
    if not isinstance(router, MeteredRouter) or waits is None:
        return None
    topology = world.machine.topology
    processors = waits.by_processor.most_common()
    own = _links(router), _queues(router), waits.rows, _largest(processors)
    parts = gathered(world.machine.transport, own)
    if not parts:
        return {}

    links = [row for part in parts for row in part[0]]
    queues = [row for part in parts for row in part[1]]
    return {
        "busiest_links": [
            _link(topology, link, hops, [(numbered(shares, number).site, n) for number, n in loads])
            for link, hops, loads in _largest(links)
        ],
        "longest_queues": [
            {"node": node, "messages": messages, "step": step}
            for node, messages, step in _largest(queues)
        ],
        "waits": _waits([row for part in parts for row in part[2]]),
        "waiting": [
            {"processor": processor, "steps": steps}
            for processor, steps in _largest([row for part in parts for row in part[3]])
        ],
    }


def _largest(rows: Sequence[Any]) -> list[Any]:
    """Return the rows with the largest second entry; ties are ordered by the first entry."""
    return sorted(rows, key=lambda row: (-row[1], row[0]))[:MOST]


def _links(router: MeteredRouter) -> list[Any]:
    """Return this rank's busiest links, with their hops in total and by account."""
    links, accounts, hops = router.loads.T
    numbers, place = np.unique(links, return_inverse=True)
    total = np.zeros(len(numbers), np.int64)
    np.add.at(total, place.reshape(-1), hops)
    busiest = np.lexsort([numbers, -total])[:MOST]
    return [
        [int(numbers[one]), int(total[one]), _pairs(accounts, hops, place.reshape(-1) == one)]
        for one in busiest.tolist()
    ]


def _pairs(accounts: Ints, hops: Ints, chosen: Any) -> list[Any]:
    """Return pairs of account number and hops for chosen rows."""
    pairs = zip(accounts[chosen].tolist(), hops[chosen].tolist(), strict=True)
    return [list(pair) for pair in pairs]


def _queues(router: MeteredRouter) -> list[Any]:
    """Return this rank's longest queues: node, messages, step."""
    lengths, steps = router.queues.T
    nodes = router.machine.nodes
    longest = np.lexsort([nodes, -lengths])[:MOST]
    longest = longest[lengths[longest] > 0]
    columns = nodes[longest].tolist(), lengths[longest].tolist(), steps[longest].tolist()
    return [list(row) for row in zip(*columns, strict=True)]


def _link(topology: Topology, link: int, hops: int, loads: Sequence[tuple[Site, int]]) -> Row:
    """Return a link's row, with the script's lines of its largest loads."""
    lines: defaultdict[Site, int] = defaultdict(int)
    for site, messages in loads:
        lines[site] += messages
    most = sorted(lines.items(), key=lambda item: (-item[1], item[0]))[:LOADING]
    loaded = [_at(site) | {"messages": messages} for site, messages in most]
    node, port = divmod(link, topology.ports)
    to = {"to": int(topology.neighbor(node, port))} if topology.links else {}
    return {"node": node, "port": port, **to, "messages": hops, "loaded_by": loaded}


def _at(site: Site) -> Row:
    """Return a call in the form used by documents."""
    return dict(zip(("call", "file", "line"), site, strict=True))


def _waits(rows: Sequence[Any]) -> list[Row]:
    """Return the steps in calls by line, summed over all ranks."""
    steps: defaultdict[Site, int] = defaultdict(int)
    longest: dict[Site, tuple[int, int]] = {}
    for *words, spent, most, processor in rows:
        site: Site = tuple(words)
        steps[site] += spent
        longest[site] = max(longest.get(site, (0, 0)), (most, -processor))
    ordered = sorted(steps.items(), key=lambda item: (-item[1], itemgetter(1, 2, 0)(item[0])))
    return [
        _at(site) | {"steps": spent, "longest": longest[site][0], "processor": -longest[site][1]}
        for site, spent in ordered
    ]

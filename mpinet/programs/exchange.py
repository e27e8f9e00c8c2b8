"""Total exchange: a different item from every processor to every other, by routing."""

from __future__ import annotations

import numpy as np

from mpinet.arrays import Ints
from mpinet.machine import Machine
from mpinet.machine.router import Router
from mpinet.networks.routing import Routing
from mpinet.programs.bounds import exchange_bound
from mpinet.programs.collective import CollectiveResult, items, require_few

ROUTED = "routed"
"""Name of what the router does by itself."""

MOST_PROCESSORS = 2**12
"""Most processors that all send to all at once: 2^24 messages."""


def exchange(
    machine: Machine,
    routing: Routing | None = None,
    seed: int = 0,
) -> CollectiveResult:
    """Bring an item of every processor to every other, one per message (collective).

    All messages are there in step 0. In round k processor s addresses s + k (mod N); messages of
    lower rounds go first.

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts.
    routing : Routing, optional
        Default: the network's first.
    seed : int
        Chooses the items' contents.

    Raises
    ------
    UsageError
        There are too many processors.

    Examples
    --------
    >>> found = exchange(Machine("ring:5", "one"))
    >>> found.steps, found.messages, found.lower_bound, found.correct
    (6, 30, 6, True)
    """
    require_few(machine.topology, "Total exchange", MOST_PROCESSORS)
    bound = exchange_bound(machine)
    sources, targets, numbers = all_pairs(machine)
    rows = np.stack([sources, items(seed, sources, targets)], axis=1)
    total = machine.topology.hosts * (machine.topology.hosts - 1)
    with machine.spending() as spent:
        nodes, came = send_routed(machine, sources, targets, numbers, total, rows, routing)
    origins, contents = came.T
    right = np.array_equal(contents, items(seed, origins, nodes))
    right = right and from_all_others(machine, nodes, origins)
    correct = machine.sum(int(not right))[0] == 0
    return CollectiveResult.of(ROUTED, spent, bound, correct)


def all_pairs(machine: Machine) -> tuple[Ints, Ints, Ints]:
    """What this rank's processors send to all others: sources, targets, message numbers.

    They are numbered round by round, in a round by source: message (k - 1) N + s goes to s + k.
    """
    hosts = machine.topology.hosts
    nodes = np.sort(machine.nodes)
    nodes = nodes[nodes < hosts]
    rounds = np.repeat(np.arange(1, hosts), len(nodes))
    sources = np.tile(nodes, hosts - 1)
    return sources, (sources + rounds) % hosts, (rounds - 1) * hosts + sources


def from_all_others(machine: Machine, nodes: Ints, origins: Ints) -> bool:
    """Whether each of this rank's processors has something once from every other one."""
    hosts = machine.topology.hosts
    sources, targets, _ = all_pairs(machine)
    wanted = np.sort(sources * hosts + targets)
    return np.array_equal(np.sort(nodes * hosts + origins), wanted)


def send_routed(
    machine: Machine,
    sources: Ints,
    targets: Ints,
    numbers: Ints,
    total: int,
    rows: Ints,
    routing: Routing | None = None,
) -> tuple[Ints, Ints]:
    """Route messages that are all there at the start (collective).

    Parameters
    ----------
    sources, targets, numbers, total
        As in `Router.inject`.
    rows : ndarray of int64, shape (k, w)
        What they carry.

    Returns
    -------
    nodes : ndarray of int64, shape (m,)
        This rank's processors that received a message, one for each.
    rows : ndarray of int64, shape (m, w)
        What they received.
    """
    router = Router(
        machine, routing or machine.topology.routing(), payload_words=rows.shape[1], keep=True
    )
    router.inject(sources, targets, numbers, total, rows)
    router.run()
    return router.delivered.nodes, router.delivered.payload

"""Total exchange: an item from every processor to every other, by routing or farthest first."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.machine.router import Router
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound, exchange_bound
from mpinet.programs.carry import carry
from mpinet.programs.collective import CollectiveResult, choose, items, require_few
from mpinet.programs.cuts import best_cut
from mpinet.programs.farthest import farthest_timetable

ROUTED = "routed"
"""Name of what the router does by itself."""

FARTHEST = "farthest"
"""Name of what a search that sees the whole network finds."""

MOST_PROCESSORS = {ROUTED: 2**12, FARTHEST: 2**8}
"""Most processors that all send to all at once: 2^24 messages for the router."""


def exchange(
    machine: Machine,
    routing: Routing | None = None,
    seed: int = 0,
    algorithm: str | None = None,
) -> CollectiveResult:
    """Bring an item of every processor to every other, one per message (collective).

    ``routed``: all messages are there in step 0; in round k processor s addresses s + k (mod N),
    and messages of lower rounds go first. ``farthest`` (links): over fewest hops, items with the
    farthest target first; its lower bound is that of the best cut.

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts.
    routing : Routing, optional
        The router's; default: the network's first.
    seed : int
        Chooses the items' contents.
    algorithm : str, optional
        Default: ``"routed"``.

    Raises
    ------
    UsageError
        There are too many processors, or there is no such algorithm here.

    Examples
    --------
    >>> found = exchange(Machine("ring:5", "one"))
    >>> found.steps, found.messages, found.lower_bound, found.correct
    (6, 30, 6, True)
    """
    name = require_algorithm(machine.topology, algorithm, machine.model)
    if name == FARTHEST:
        return _farthest_first(machine, seed)
    bound = exchange_bound(machine)
    sources, targets, numbers = all_pairs(machine)
    rows = np.stack([sources, items(seed, sources, targets)], axis=1)
    total = machine.topology.hosts * (machine.topology.hosts - 1)
    with machine.spending() as spent:
        nodes, came = send_routed(machine, sources, targets, numbers, total, rows, routing)
    return CollectiveResult.of(name, spent, bound, _complete(machine, seed, nodes, came))


def require_algorithm(topology: Topology, algorithm: str | None, model: PortModel) -> str:
    """The algorithm that a total exchange uses.

    Raises
    ------
    UsageError
        There is no such algorithm here, or there are too many processors for it.
    """
    offered = [ROUTED]
    limits = model.send, model.receive, model.half_duplex
    if topology.links and limits in ((1, 1, False), (None, None, False)):
        offered.append(FARTHEST)
    name = choose(topology, "total exchange", algorithm, offered)
    what = "Total exchange" if name == ROUTED else f"Total exchange {name!r}"
    instead = ": it keeps an item for each pair (mpinet route --pairs random:N samples pairs)"
    require_few(topology, what, MOST_PROCESSORS[name], instead)
    return name


def _farthest_first(machine: Machine, seed: int) -> CollectiveResult:
    """Move the items as a timetable says."""
    topology, bound = machine.topology, exchange_bound(machine)
    cut = best_cut(topology, machine.model, "exchange")
    if cut is not None:
        bound = max(bound, Bound(cut.steps, "cut"))
    timetable = farthest_timetable(topology, machine.model.send == 1, bound)
    sources, targets, _ = all_pairs(machine)
    rows = np.stack([sources * topology.hosts + targets, items(seed, sources, targets)], axis=1)
    with machine.spending() as spent:
        slots = machine.slots(sources)
        nodes, came = carry(machine, timetable, slots, rows, topology.hosts**2)
    came[:, 0] //= topology.hosts
    return CollectiveResult.of(FARTHEST, spent, bound, _complete(machine, seed, nodes, came))


def _complete(machine: Machine, seed: int, nodes: Ints, came: Ints) -> bool:
    """Tell if every processor has received its item of every other one, and no other (collective).

    Parameters
    ----------
    nodes : ndarray of int64, shape (m,)
        This rank's receivers.
    came : ndarray of int64, shape (m, 2)
        Sources, and contents.
    """
    origins, contents = came.T
    right = np.array_equal(contents, items(seed, origins, nodes))
    right = right and from_all_others(machine, nodes, origins)
    return machine.sum(int(not right))[0] == 0


def all_pairs(machine: Machine) -> tuple[Ints, Ints, Ints]:
    """Return what this rank's processors send to all others: sources, targets, message numbers.

    They are numbered round by round, in a round by source: message (k - 1) N + s goes to s + k.
    """
    hosts = machine.topology.hosts
    nodes = np.sort(machine.nodes)
    nodes = nodes[nodes < hosts]
    rounds = np.repeat(np.arange(1, hosts), len(nodes))
    sources = np.tile(nodes, hosts - 1)
    return sources, (sources + rounds) % hosts, (rounds - 1) * hosts + sources


def from_all_others(machine: Machine, nodes: Ints, origins: Ints) -> bool:
    """Tell if each of this rank's processors has something once from every other one."""
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
    delivered = router.take()
    return delivered.nodes, delivered.payload

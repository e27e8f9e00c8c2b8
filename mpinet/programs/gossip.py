"""Gossip (all-to-all broadcast): every processor's item to all others, one item per message.

By rotation along a Hamiltonian cycle where the network offers one, on its processors' knowledge of
their own successor alone; else along a tree, or, over busses, by routing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mpinet.arrays import Ints
from mpinet.compiled import kernel
from mpinet.draws import draw
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.networks.cycle import Cycle
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import gossip_bound
from mpinet.programs.collective import CollectiveResult, choose, items, require_few
from mpinet.programs.exchange import ROUTED, all_pairs, send_routed
from mpinet.programs.preparation import NONE, Preparation
from mpinet.programs.rarest import rarest_timetable
from mpinet.programs.schedules.timetable import Part
from mpinet.programs.treegossip import gossip_along_tree
from mpinet.programs.waves import count_bits

CYCLE, TREE, RAREST = "cycle", "tree", "rarest"

MOST_PROCESSORS = {CYCLE: 2**16, TREE: 2**13, ROUTED: 2**12, RAREST: 2**10}
"""Most processors of each algorithm: the items that they hold in the end are the square of it."""


def gossip(machine: Machine, algorithm: str | None = None, seed: int = 0) -> CollectiveResult:
    """Bring every processor's item to all processors (collective).

    ``cycle``: every processor passes on to its successor what came from its predecessor; N-1 steps,
    which nothing beats with one port. With all ports the items go both ways round. ``tree``: along
    a spanning tree, links of one colour after the other. ``routed``: N-1 messages each. ``rarest``
    (all ports, links): everybody takes from its neighbours what fewest have.

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts.
    algorithm : str, optional
        Default: the first of the first three that the network allows.
    seed : int
        Chooses the items' contents.

    Raises
    ------
    UsageError
        There is no such algorithm here, or there are too many processors for it.

    Examples
    --------
    >>> found = gossip(Machine("ring:8", "one"))
    >>> found.algorithm, found.steps, found.messages, found.lower_bound
    ('cycle', 7, 56, 7)
    """
    name = require_algorithm(machine.topology, machine.model.half_duplex, algorithm)
    if name == RAREST and (machine.model.send, machine.model.receive) != (None, None):
        raise UsageError("Gossip 'rarest' uses all ports: give --ports all.")
    bound = gossip_bound(machine)
    preparation = NONE
    own = np.stack([machine.nodes, items(seed, machine.nodes, machine.nodes)], axis=1)
    held = Holdings(machine, seed)
    of_hosts = np.flatnonzero(machine.nodes < machine.topology.hosts)
    held.take(of_hosts, own[of_hosts])
    with machine.spending() as spent:
        if machine.topology.hosts > 1:
            preparation = _ALGORITHMS[name](machine, own, held.take)
    correct = held.complete()
    return CollectiveResult.of(name, spent, bound, correct, preparation)


def require_algorithm(topology: Topology, half_duplex: bool, algorithm: str | None) -> str:
    """The algorithm that is wanted, or the first that the network and its links allow.

    Raises
    ------
    UsageError
        There is no such algorithm here, or there are too many processors for it.
    """
    offered = [TREE, ROUTED] if topology.links else [ROUTED]
    one_link = topology.size == 2 and half_duplex
    if topology.cycle() is not None and not one_link:
        offered.insert(0, CYCLE)
    if topology.links and topology.hosts == topology.size and not half_duplex:
        offered.append(RAREST)
    name = choose(topology, "gossip", algorithm, offered)
    require_few(topology, f"Gossip {name!r}", MOST_PROCESSORS[name])
    return name


Take = Callable[[Ints, Ints], None]
"""Notes rows (origin, contents) that the processors in some slots received."""


def _rotate(machine: Machine, own: Ints, take: Take) -> Preparation:
    """Once round the cycle, or with all ports half round it both ways."""
    nodes, model = machine.nodes, machine.model
    ahead = _cycle_of(machine).successor(nodes)
    plan = machine.plan(nodes, ahead)
    slots = machine.slots(plan.nodes)
    others, forward = machine.topology.size - 1, own.copy()
    if model.send is None and model.receive is None and not model.half_duplex:
        back = np.empty_like(ahead)
        back[slots] = plan.ports
        forward = _rotate_both_ways(machine, ahead, back, own, take)
        others %= 2
    for _ in range(others):
        came = plan(forward)
        forward[slots] = came
        take(slots, came)
    return NONE


def _rotate_both_ways(
    machine: Machine,
    ahead: Ints,
    back: Ints,
    own: Ints,
    take: Take,
) -> Ints:
    """Half round the cycle in both directions; what goes ahead next."""
    rounds = (machine.topology.size - 1) // 2
    forward, backward = own.copy(), own.copy()
    if rounds == 0:
        return forward
    plan = machine.plan(np.tile(machine.nodes, 2), np.concatenate([ahead, back]))
    slots = machine.slots(plan.nodes)
    from_behind = plan.ports == back[slots]
    for _ in range(rounds):
        came = plan(np.concatenate([forward, backward]))
        forward[slots[from_behind]] = came[from_behind]
        backward[slots[~from_behind]] = came[~from_behind]
        take(slots, came)
    return forward


def _cycle_of(machine: Machine) -> Cycle:
    """The network's cycle.

    Raises
    ------
    UsageError
        It has none.
    """
    cycle = machine.topology.cycle()
    if cycle is None:
        raise UsageError(f"{machine.topology.name} offers no Hamiltonian cycle.")
    return cycle


def _route(machine: Machine, own: Ints, take: Take) -> Preparation:
    """Every processor sends its item to every other one by the routing."""
    sources, targets, numbers = all_pairs(machine)
    total = machine.topology.hosts * (machine.topology.hosts - 1)
    rows = own[machine.slots(sources)]
    nodes, came = send_routed(machine, sources, targets, numbers, total, rows)
    take(machine.slots(nodes), came)
    return NONE


def _take_rarest(machine: Machine, own: Ints, take: Take) -> Preparation:
    """Every processor sends as the rows of a timetable say, what it has received itself."""
    timetable = rarest_timetable(machine.topology, gossip_bound(machine))
    part = Part(machine, timetable)
    contents = np.zeros((len(own), machine.topology.size), np.int64)
    contents[np.arange(len(own)), own[:, 0]] = own[:, 1]
    chunks = timetable.chunk[part.index]
    for step in range(1, timetable.last + 1):
        rows = part.sends(step)
        slots, items_sent = part.slots[rows], chunks[rows]
        payload = np.stack([items_sent, contents[slots, items_sent]], axis=1)
        inbox = machine.step(machine.nodes[slots], part.ports[rows], payload)
        slots = machine.slots(inbox.nodes)
        contents[slots, inbox.payload[:, 0]] = inbox.payload[:, 1]
        take(slots, inbox.payload)
    return NONE


_ALGORITHMS = {
    CYCLE: _rotate,
    TREE: gossip_along_tree,
    ROUTED: _route,
    RAREST: _take_rarest,
}


class Holdings:
    """Which items this rank's processors have: a bit for each.

    Parameters
    ----------
    machine : Machine
        Its ranks and processors.
    seed : int
        The items' contents must be those of this seed.
    """

    def __init__(self, machine: Machine, seed: int):
        self._machine, self._seed = machine, seed
        words = -(-machine.topology.hosts // ITEMS_PER_WORD)
        self._bits = np.zeros((machine.placement.count, words), np.uint64)
        self._wrong = 0

    def take(self, slots: Ints, rows: Ints) -> None:
        """Note what the processors in these slots received: rows (origin, contents)."""
        slots, rows = np.ascontiguousarray(slots), np.ascontiguousarray(rows)
        self._wrong += mark_items(self._seed, slots, rows, self._bits)

    def complete(self) -> bool:
        """Whether every processor has every item, and nobody a wrong one (collective)."""
        hosts = self._machine.topology.hosts
        of_hosts = self._bits[self._machine.nodes < hosts]
        missing = hosts * len(of_hosts) - int(
            count_bits(of_hosts, np.zeros(len(of_hosts), np.int64))
        )
        return sum(self._machine.sum(missing, self._wrong)) == 0


ITEMS_PER_WORD = 64


@kernel("int64(int64, int64[::1], int64[:, ::1], uint64[:, ::1])")
def mark_items(seed, slots, rows, bits):
    """Set the bit of every item (origin, contents) in its receiver's row; how many are wrong."""
    wrong = 0
    for i in range(slots.size):
        origin = int(rows[i, 0])
        if rows[i, 1] != draw(seed, origin, origin):
            wrong += 1
        else:
            bits[slots[i], origin >> 6] |= np.uint64(1) << np.uint64(origin & 63)
    return wrong

"""Gossip (all-to-all broadcast): every processor's item to all others, one item per message.

By rotation along a Hamiltonian cycle where the network offers one, on its processors' knowledge of
their own successor alone; else along a tree, or, over busses, by routing. Or by a timetable that a
search of the whole network has found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints, Table, WordRows
from mpinet.base.memory import require_memory
from mpinet.compiled import kernel
from mpinet.draws import draw
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.state import Fields, Numbered, State, Total
from mpinet.machine.transport import Local
from mpinet.networks.cycle import Cycle
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound, gossip_bound
from mpinet.programs.busgossip import bus_gossip_timetable
from mpinet.programs.collective import CollectiveResult, choose, items, require_few
from mpinet.programs.cuts import best_cut
from mpinet.programs.exchange import ROUTED, all_pairs, send_routed
from mpinet.programs.fewest import (
    MOST_MOVED,
    TRANSLATIONS,
    Candidate,
    searched,
    spread_gossip,
)
from mpinet.programs.matchedgossip import matched_timetable
from mpinet.programs.pipelines.spreading import PATHS, TREES
from mpinet.programs.preparation import NONE, Preparation
from mpinet.programs.rarest import rarest_timetable
from mpinet.programs.schedules.timetable import Part, Timetable
from mpinet.programs.translated import Orbit, Take, TranslatedResult, move_translated
from mpinet.programs.treegossip import gossip_along_tree
from mpinet.programs.waves import count_bits

CYCLE, TREE, RAREST, MATCHING = "cycle", "tree", "rarest", "matching"

MOST_PROCESSORS = {
    CYCLE: 2**16,
    TREE: 2**13,
    ROUTED: 2**12,
    RAREST: 2**12,
    MATCHING: 2**12,
    PATHS: 2**12,
    TREES: 2**12,
    TRANSLATIONS: 2**20,
}
"""Most processors of each algorithm: the items that they hold in the end are the square of it."""

MOST_ON_BUSSES = MOST_PROCESSORS | {RAREST: 2**10, MATCHING: 2**10}
"""The same over busses."""

BYTES_A_MESSAGE = 160
"""Bytes of a timetable's row, and of its copies while the rank's part of it is found."""

MOST_REHEARSED = 2**11
"""Processors up to which a gossip along a tree runs on each rank only to be compared."""


def gossip(machine: Machine, algorithm: str | None = None, seed: int = 0) -> CollectiveResult:
    """Bring every processor's item to all processors (collective).

    ``cycle``: every processor passes on to its successor what came from its predecessor; N-1 steps,
    which nothing beats with one port. With all ports the items go both ways round. ``tree``: along
    a spanning tree, links of one colour after the other. ``routed``: N-1 messages each. ``rarest``
    (all ports): everybody takes from its neighbours what fewest have. ``matching`` (one port): in
    every step a largest matching of those who can tell something new; its lower bound is that of
    the best cut. Over busses both let each bus carry what most of its members lack.
    ``translations``: what comes to one processor, turned to all others; of more than `MOST_MOVED`
    processors the messages of one stand for those of all, and are checked by themselves. ``paths``
    and ``trees`` are those of pipelines.

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts.
    algorithm : str, optional
        Default: the candidate of the fewest steps, on links and one port or all; else the first of
        the first three that the network allows. Candidates beyond a budget of work are skipped.
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
    _require_ports(machine, name)
    found, skipped = Candidate(name, 0), tuple[str, ...]()
    if algorithm is None:
        found, skipped = _fewest(machine, name)
    elif name == TRANSLATIONS:
        found = Candidate(name, 0, Orbit.of(machine.topology, machine.model.send == 1))
    name, _, orbit, timetable = found
    if orbit is not None and machine.topology.size > MOST_MOVED:
        return _by_orbit(machine, orbit)
    bound = _bound(machine, name, orbit)
    preparation = NONE
    own = np.stack([machine.nodes, items(seed, machine.nodes, machine.nodes)], axis=1)
    held = ItemSets(machine, seed)
    of_hosts = np.flatnonzero(machine.nodes < machine.topology.hosts)
    held.take(of_hosts, own[of_hosts])
    with State(machine, "gossip", held), machine.spending() as spent:
        if machine.topology.hosts > 1:
            if orbit is not None:
                move_translated(machine, own, held.take, orbit)
            elif timetable is not None:
                _by_timetable(machine, own, held.take, timetable)
            else:
                preparation = _ALGORITHMS[name](machine, own, held.take, bound)
    correct = held.complete()
    if orbit is not None:
        correct = correct and orbit.right(machine.model.send == 1)
        return TranslatedResult.of(name, spent, bound, correct, by_orbit=False, skipped=skipped)
    return CollectiveResult.of(name, spent, bound, correct, preparation, skipped=skipped)


def _fewest(machine: Machine, own: str) -> tuple[Candidate, tuple[str, ...]]:
    """Choose between the network's own algorithm and searches; return what was skipped, too."""
    topology, model = machine.topology, machine.model
    stays = Candidate(own, 0)
    limits = model.send, model.receive
    if not topology.links or model.half_duplex or limits not in ((1, 1), (None, None)):
        return stays, ()
    others = topology.hosts - 1
    # Every leaf of a tree receives all other items over one link.
    least = -(-others // 2) if own == CYCLE and model.send is None else others
    bound = gossip_bound(machine)
    if others < 1 or (own == CYCLE and least <= bound):
        return stays, ()
    best, skipped = searched(topology, model, bound)
    if best is None:
        return stays, skipped
    exact = own == CYCLE
    if not exact and best.steps > least and topology.hosts <= MOST_REHEARSED:
        least, exact = gossip(Machine(topology, model, Local()), own).steps, True
    return (best if best.steps < least + (not exact) else stays), skipped


def _by_orbit(machine: Machine, orbit: Orbit) -> TranslatedResult:
    """Look at one processor's messages, which stand for all (collective)."""
    if machine.trace is not None or machine.metered:
        raise UsageError(
            f"Gossip {TRANSLATIONS!r} of more than {MOST_MOVED:,} processors looks at the messages "
            "of one, so that nothing can be recorded."
        )
    one_port, size = machine.model.send == 1, machine.topology.size
    return TranslatedResult(
        TRANSLATIONS,
        orbit.steps,
        size * len(orbit.rows),
        ((TRANSLATIONS, orbit.steps),),
        _bound(machine, TRANSLATIONS, orbit),
        orbit.right(one_port),
        by_orbit=True,
    )


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
    if not half_duplex:
        everybody = topology.hosts == topology.size
        offered += [RAREST, MATCHING] if everybody or topology.links else [MATCHING]
        offered += [TREES] if topology.links else []
        offered += [PATHS] if topology.links and not everybody else []
        offered += [TRANSLATIONS] if everybody and topology.links else []
    name = choose(topology, "gossip", algorithm, offered)
    most = MOST_PROCESSORS if topology.links else MOST_ON_BUSSES
    require_few(topology, f"Gossip {name!r}", most[name])
    if name in (RAREST, MATCHING, PATHS, TREES):
        needed = topology.hosts * topology.size * BYTES_A_MESSAGE
        require_memory(needed, f"The timetable of gossip {name!r} on {topology.name}")
    return name


def _require_ports(machine: Machine, name: str) -> None:
    """Raise `UsageError` where an algorithm is made for another port model."""
    limits = machine.model.send, machine.model.receive
    if name in (RAREST, TREES) and limits != (None, None):
        raise UsageError(f"Gossip {name!r} uses all ports: give --ports all.")
    if name == PATHS and limits not in ((1, 1), (None, None)):
        raise UsageError("Gossip 'paths' uses one port or all: give --ports one or all.")
    if name == MATCHING and limits != (1, 1):
        raise UsageError("Gossip 'matching' uses one port: give --ports one.")
    if name == TRANSLATIONS and limits not in ((1, 1), (None, None)):
        raise UsageError("Gossip 'translations' uses one port or all: give --ports one or all.")


def _bound(machine: Machine, name: str, orbit: Orbit | None = None) -> Bound:
    """Steps that nothing beats; of ``matching`` with the best cut, too."""
    simple = gossip_bound(machine, None if orbit is None else orbit.translations.diameter)
    cut = best_cut(machine.topology, machine.model, "gossip") if name == MATCHING else None
    return simple if cut is None else max(simple, Bound(cut.steps, "cut"))


def _rotate(machine: Machine, own: Ints, take: Take) -> Preparation:
    """Once round the cycle, or with all ports half round it both ways."""
    nodes, model = machine.nodes, machine.model
    ahead = _cycle_of(machine).successor(nodes)
    plan = machine.plan(nodes, ahead)
    slots = machine.slots(plan.nodes)
    forward = Numbered(own.copy(), nodes)
    with State(machine, "cycle", forward=forward, left=machine.topology.size - 1) as state:
        if model.send is None and model.receive is None and not model.half_duplex:
            back = np.empty_like(ahead)
            back[slots] = plan.ports
            _rotate_both_ways(machine, ahead, back, state, take)
        while state.left:
            came = plan(state.forward)
            state.forward[slots] = came
            state.left -= 1
            take(slots, came)
            state.boundary()
    return NONE


def _rotate_both_ways(
    machine: Machine,
    ahead: Ints,
    back: Ints,
    state: State,
    take: Take,
) -> None:
    """Half round the cycle in both directions, of all that is left two at a time."""
    if state.left < 2:
        return
    plan = machine.plan(np.tile(machine.nodes, 2), np.concatenate([ahead, back]))
    slots = machine.slots(plan.nodes)
    from_behind = plan.ports == back[slots]
    backward = Numbered(state.forward.copy(), machine.nodes)
    with State(machine, "both ways", backward=backward) as other:
        while state.left > 1:
            came = plan(np.concatenate([state.forward, other.backward]))
            state.forward[slots[from_behind]] = came[from_behind]
            other.backward[slots[~from_behind]] = came[~from_behind]
            state.left -= 2
            take(slots, came)
            other.boundary()


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


def _by_timetable(machine: Machine, own: Ints, take: Take, timetable: Timetable) -> Preparation:
    """Every node sends as the rows of a timetable say, what it has received itself."""
    part = Part(machine, timetable)
    contents = np.zeros((len(own), machine.topology.size), np.int64)
    contents[np.arange(len(own)), own[:, 0]] = own[:, 1]
    chunks = timetable.chunk[part.index]
    with State(machine, "timetable", step=0, contents=Numbered(contents, machine.nodes)) as state:
        contents = state.contents
        while state.step < timetable.last:
            state.step += 1
            rows = part.sends(state.step)
            slots, items_sent = part.slots[rows], chunks[rows]
            payload = np.stack([items_sent, contents[slots, items_sent]], axis=1)
            inbox = machine.step(machine.nodes[slots], part.ports[rows], payload)
            slots = machine.slots(inbox.nodes)
            contents[slots, inbox.payload[:, 0]] = inbox.payload[:, 1]
            take(slots, inbox.payload)
            state.boundary()
    return NONE


def _take_rarest(machine: Machine, own: Ints, take: Take, bound: int) -> Preparation:
    """Gossip by the timetable of all ports."""
    network = machine.topology
    if not network.links:
        return _by_timetable(machine, own, take, bus_gossip_timetable(network, False, bound))
    if network.hosts < network.size:
        return _spread(machine, own, take, bound, RAREST)
    return _by_timetable(machine, own, take, rarest_timetable(network, bound))


def _spread(machine: Machine, own: Ints, take: Take, bound: int, algorithm: str) -> Preparation:
    """Gossip as a pipeline of one item of each processor."""
    found, _ = spread_gossip(machine.topology, machine.model, bound, algorithm)
    assert found.timetable is not None
    return _by_timetable(machine, own, take, found.timetable)


def _take_matched(machine: Machine, own: Ints, take: Take, bound: int) -> Preparation:
    """Gossip by the timetable of one port."""
    network = machine.topology
    if not network.links:
        return _by_timetable(machine, own, take, bus_gossip_timetable(network, True, bound))
    return _by_timetable(machine, own, take, matched_timetable(network, bound))


_ALGORITHMS: dict[str, Callable[[Machine, Ints, Take, int], Preparation]] = {
    CYCLE: lambda machine, own, take, bound: _rotate(machine, own, take),
    TREE: lambda machine, own, take, bound: gossip_along_tree(machine, own, take),
    ROUTED: lambda machine, own, take, bound: _route(machine, own, take),
    RAREST: _take_rarest,
    MATCHING: _take_matched,
    PATHS: lambda machine, own, take, bound: _spread(machine, own, take, bound, PATHS),
    TREES: lambda machine, own, take, bound: _spread(machine, own, take, bound, TREES),
}


class ItemSets:
    """Items that this rank's processors have: a bit for each.

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

    def state(self) -> Fields:
        """Return what a checkpoint holds of it."""
        return {"bits": Numbered(self._bits, self._machine.nodes), "wrong": Total(self._wrong)}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Go on from what `state` gave on any ranks."""
        self._bits, self._wrong = found["bits"], found["wrong"]

    def take(self, slots: Ints, rows: Ints) -> None:
        """Note what the processors in these slots received: rows (origin, contents)."""
        slots, rows = np.ascontiguousarray(slots), np.ascontiguousarray(rows)
        self._wrong += mark_items(self._seed, slots, rows, self._bits)

    def complete(self) -> bool:
        """Tell if every processor has every item, and nobody a wrong one (collective)."""
        hosts = self._machine.topology.hosts
        of_hosts = self._bits[self._machine.nodes < hosts]
        missing = hosts * len(of_hosts) - int(
            count_bits(of_hosts, np.zeros(len(of_hosts), np.int64))
        )
        return sum(self._machine.sum(missing, self._wrong)) == 0


ITEMS_PER_WORD = 64


@kernel
def mark_items(seed: int, slots: Ints, rows: Table, bits: WordRows) -> int:
    """Set the bit of every item (origin, contents) in its receiver's row; how many are wrong."""
    wrong = 0
    for i in range(slots.size):
        origin = int(rows[i, 0])
        if rows[i, 1] != draw(seed, origin, origin):
            wrong += 1
        else:
            bits[slots[i], origin >> 6] |= np.uint64(1) << np.uint64(origin & 63)
    return wrong

"""Gossip (all-to-all broadcast): every processor's item to all others, one item per message.

By rotation along a Hamiltonian cycle where the network offers one, on its processors' knowledge of
their own successor alone; else along a tree, or, over busses, by routing. Or by a timetable that a
search of the whole network has found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.state import Numbered, State
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound, gossip_bound
from mpinet.programs.busgossip import rows_over_busses
from mpinet.programs.collective import CollectiveOutcome, choose, require_few
from mpinet.programs.cuts import best_cut
from mpinet.programs.fewest import (
    MOST_MOVED,
    TRANSLATIONS,
    Candidate,
    searched,
    spread_gossip,
)
from mpinet.programs.holdings import ChunkSends, MarkedChunks
from mpinet.programs.kinds import Purpose
from mpinet.programs.matchedgossip import matched_rows, needed_rows
from mpinet.programs.pipelines.spreading import PATHS, TREES
from mpinet.programs.playing import StepProgram, play, rows_of
from mpinet.programs.preparation import NONE, Preparation
from mpinet.programs.rarest import rarest_rows
from mpinet.programs.routed import ROUTED, route_chunks
from mpinet.programs.schedules.timetable import Timetable
from mpinet.programs.translated import Orbit, move_translated
from mpinet.programs.tree import RoutingTree
from mpinet.programs.treegossip import arcs_of, gossip_along_tree

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


def gossip(machine: Machine, algorithm: str | None = None, seed: int = 0) -> CollectiveOutcome:
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
    purpose, preparation = Purpose("gossip", machine.topology.hosts), NONE
    more: dict[str, Any] = {"skipped": skipped, "by_orbit": None if orbit is None else False}
    # The router keeps rows itself; bits of all pairs would be needless memory.
    if name == ROUTED or purpose.processors == 1:
        spent, correct = route_chunks(machine, purpose, seed)
        return CollectiveOutcome.of(name, spent, bound, correct, **more)
    held = MarkedChunks(machine, purpose, seed)
    if orbit is not None:
        program = move_translated(machine, orbit, held)
    elif name == CYCLE:
        program = _rotate(machine, held)
    elif name == TREE:
        tree = RoutingTree(machine, 0)
        arcs = arcs_of(machine, tree)
        preparation = Preparation.on(tree.survey)
        program = gossip_along_tree(machine, tree, arcs, held)
    else:
        program = rows_of(machine, timetable or _timetable(machine, name, bound), held)
    spent = play(machine, program, held)
    correct = held.short() == 0
    if orbit is not None:
        correct = correct and orbit.right(machine.model.send == 1)
    return CollectiveOutcome.of(name, spent, bound, correct, preparation, **more)


def _timetable(machine: Machine, name: str, bound: int) -> Timetable:
    """Find the timetable of a search."""
    network, sources = machine.topology, np.arange(machine.topology.hosts)
    if not network.links:
        rows = rows_over_busses(network, sources, bound, name == MATCHING)
    elif name in (PATHS, TREES) or (name == RAREST and network.hosts < network.size):
        found, _ = spread_gossip(network, machine.model, bound, name)
        assert found.timetable is not None
        return found.timetable
    else:
        rows = (matched_rows if name == MATCHING else rarest_rows)(network, sources, bound)
        rows = rows[needed_rows(rows, network, sources)]
    return Timetable.of("gossip", network, rows)


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


def _by_orbit(machine: Machine, orbit: Orbit) -> CollectiveOutcome:
    """Look at one processor's messages, which stand for all (collective)."""
    if machine.trace is not None or machine.metered:
        raise UsageError(
            f"Gossip {TRANSLATIONS!r} of more than {MOST_MOVED:,} processors looks at the messages "
            "of one, so that nothing can be recorded."
        )
    one_port, size = machine.model.send == 1, machine.topology.size
    return CollectiveOutcome(
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


def _rotate(machine: Machine, held: MarkedChunks) -> StepProgram:
    """Once round the cycle, or with all ports half round it both ways."""
    nodes, model = machine.nodes, machine.model
    cycle = machine.topology.cycle()
    assert cycle is not None  # `require_algorithm` has looked
    ahead = cycle.successor(nodes)
    # All steps have the same sends, so that they are checked and laid out once.
    plan = machine.plan(nodes, ahead)
    slots, everybody = machine.slots(plan.nodes), np.arange(len(nodes))
    forward = Numbered(nodes.copy(), nodes)
    size = machine.topology.size
    with State(machine, "cycle", held, forward=forward, left=size - 1) as state:
        if model.send is None and model.receive is None and not model.half_duplex:
            back = np.empty_like(ahead)
            back[slots] = plan.ports
            yield from _rotate_both_ways(machine, ahead, back, state)
        while state.left:
            came = yield ChunkSends(everybody, ahead, state.forward, plan=plan)
            state.forward[slots] = came.payload[:, 0]
            state.left -= 1
            state.boundary()


def _rotate_both_ways(machine: Machine, ahead: Ints, back: Ints, state: State) -> StepProgram:
    """Half round the cycle in both directions, of all that is left two at a time."""
    if state.left < 2:
        return
    nodes, ports = np.tile(machine.nodes, 2), np.concatenate([ahead, back])
    plan = machine.plan(nodes, ports)
    slots, senders = machine.slots(plan.nodes), machine.slots(nodes)
    from_behind = plan.ports == back[slots]
    backward = Numbered(state.forward.copy(), machine.nodes)
    with State(machine, "both ways", backward=backward) as other:
        while state.left > 1:
            chunks = np.concatenate([state.forward, other.backward])
            came = (yield ChunkSends(senders, ports, chunks, plan=plan)).payload[:, 0]
            state.forward[slots[from_behind]] = came[from_behind]
            other.backward[slots[~from_behind]] = came[~from_behind]
            state.left -= 2
            other.boundary()

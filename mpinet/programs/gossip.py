"""Gossip (all-to-all broadcast): every processor's item to all others, one item per message.

On networks with a Hamiltonian cycle the items rotate along the cycle, and each processor only knows
its own successor. On other networks of links the items travel along a tree; over busses the
network's routing carries them. Alternatively a search of the whole network finds a timetable.
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
"""Maximum number of processors per algorithm. Memory for the final holdings grows with its
square.
"""

MOST_ON_BUSSES = MOST_PROCESSORS | {RAREST: 2**10, MATCHING: 2**10}
"""Maximum number of processors per algorithm on networks of busses."""

BYTES_A_MESSAGE = 160
"""Bytes per timetable row, including the copies made while a rank selects its rows."""

MOST_REHEARSED = 2**11
"""Largest number of processors for which tree gossip is run in advance, to count its steps.
"""


def gossip(machine: Machine, algorithm: str | None = None, seed: int = 0) -> CollectiveOutcome:
    """Bring every processor's item to all processors (collective).

    Algorithms:

    * ``cycle``: every processor forwards the item from its predecessor to its successor, in N-1
      steps. This is optimal with one port. With all ports, items travel in both directions.
    * ``tree``: items travel along a spanning tree, whose links take turns by colour.
    * ``routed``: every processor sends N-1 messages through the network's routing.
    * ``rarest`` (all ports): every processor receives from its neighbours the items with the fewest
      holders. Over busses, each bus carries the item lacked by most of its members.
    * ``matching`` (one port): each step uses a largest matching of useful sends. The lower bound
      includes the best cut. Over busses, each bus carries the item lacked by most of its members.
    * ``translations``: the schedule of one processor, translated to all others. Above `MOST_MOVED`
      processors only the messages of one processor are computed and checked.
    * ``paths`` and ``trees``: the algorithms of pipelines.

    Parameters
    ----------
    machine : Machine
        Runs the steps, enforces the port model and counts.
    algorithm : str, optional
        Default on links with one port or all ports: the candidate with the fewest steps. Default
        otherwise: the first of ``cycle``, ``tree`` and ``routed`` allowed by the network.
        Candidates beyond a budget of work are skipped.
    seed : int
        Seed of the items' contents.

    Raises
    ------
    UsageError
        The algorithm is not available on this network, or the network has too many processors.

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
    # The router stores rows itself. A bit for every pair of processors would waste memory.
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
    """Return the timetable found by the search called `name`."""
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
    """Choose the network's own algorithm or the best search; also return the skipped candidates."""
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
    """Return the result of a gossip by translations, from one processor's messages (collective)."""
    if machine.trace is not None or machine.metered:
        raise UsageError(
            f"Gossip {TRANSLATIONS!r} of more than {MOST_MOVED:,} processors computes the messages "
            "of one processor, and cannot be recorded."
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
    """Return the requested algorithm, or by default the first one allowed by network and link mode.

    Raises
    ------
    UsageError
        The algorithm is not available on this network, or the network has too many processors.
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
    """Raise `UsageError` if an algorithm needs another port model."""
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
    """Return the lower bound of the steps; for ``matching`` include the best cut."""
    simple = gossip_bound(machine, None if orbit is None else orbit.translations.diameter)
    cut = best_cut(machine.topology, machine.model, "gossip") if name == MATCHING else None
    return simple if cut is None else max(simple, Bound(cut.steps, "cut"))


def _rotate(machine: Machine, held: MarkedChunks) -> StepProgram:
    """Rotate the items once round the cycle; with all ports, half way round in both directions."""
    nodes, model = machine.nodes, machine.model
    cycle = machine.topology.cycle()
    assert cycle is not None  # `require_algorithm` has checked the cycle
    ahead = cycle.successor(nodes)
    # All steps have the same sends. One plan checks and lays them out once.
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
    """Rotate items in both directions, two per step, until at most one rotation is left."""
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

"""Gather: every processor's item to one root, along a spanning tree or as a flow over time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine, Spent
from mpinet.machine.model import PortModel
from mpinet.machine.state import Collected, Located, State
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound, gather_bound, scatter_bound
from mpinet.programs.collective import CollectiveOutcome, choose, require_processor
from mpinet.programs.flow import gather_timetable, scatter_timetable
from mpinet.programs.holdings import ChunkSends, all_came, first_rows
from mpinet.programs.kinds import Purpose
from mpinet.programs.playing import StepProgram, play, play_rows
from mpinet.programs.preorder import Preorder
from mpinet.programs.preparation import NONE
from mpinet.programs.routed import ROUTED, route_chunks
from mpinet.programs.schedules.timetable import Timetable

TREE, FLOW = "tree", "flow"


def gather(
    machine: Machine,
    root: int,
    algorithm: str | None = None,
    seed: int = 0,
) -> CollectiveOutcome:
    """Bring an item of every other processor to the root, one per message (collective).

    Along the tree (`Preorder`) it takes N-1 steps with one port in a network without switches,
    which nothing beats. With busses the items are routed. ``flow`` (not on links of half
    duplex) takes the fewest steps that there are, with any ports; these are the lower bound.

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts.
    root : int
        The processor that gathers.
    algorithm : str, optional
        ``"tree"``, ``"routed"`` or ``"flow"``. Default: the tree where there are links.
    seed : int
        Chooses the items' contents.

    Raises
    ------
    NodeError, UsageError
        The root is no processor, or there is no such algorithm here.

    Examples
    --------
    >>> found = gather(Machine("hypercube:4", "one"), root=0)
    >>> found.algorithm, found.steps, found.lower_bound, found.correct
    ('tree', 15, 15, True)
    """

    def along_tree(order: Preorder) -> tuple[Spent, Ints, Ints]:
        purpose = Purpose("gather", machine.topology.hosts, 1, root)
        rows = first_rows(purpose, seed, machine.nodes, machine.nodes)
        spent, came, _ = collect(machine, order, rows)
        return spent, np.full(len(came), root), came

    return move_between(machine, "gather", root, algorithm, seed, along_tree)


def move_between(
    machine: Machine,
    collective: str,
    root: int,
    algorithm: str | None,
    seed: int,
    along_tree: Callable[[Preorder], tuple[Spent, Ints, Ints]],
) -> CollectiveOutcome:
    """Bring items from or to the root (collective).

    Parameters
    ----------
    machine, root, algorithm, seed
        As of `gather`.
    collective : str
        ``"scatter"`` or ``"gather"``.
    along_tree : callable
        Moves the items along a tree; returns what was spent, the receivers, and what they received:
        items and contents.
    """
    topology = machine.topology
    name = require_algorithm(topology, root, algorithm, collective, machine.model)
    purpose, preparation = Purpose(collective, topology.hosts, 1, root), NONE
    limit, timetable = BOTH_WAYS[collective]
    bound = limit(machine, root)
    if name == FLOW:
        table = timetable(topology, root, machine.model, bound)
        bound = Bound(table.last, FLOW)
        spent, held = play_rows(machine, table, seed, checked=False)
        correct = held.short() == 0
    elif name == ROUTED or topology.hosts == 1:
        spent, correct = route_chunks(machine, purpose, seed)
    else:
        order = Preorder(machine, root)
        spent, nodes, rows = along_tree(order)
        preparation = order.preparation()
        correct = all_came(machine, purpose, seed, nodes, rows)
    return CollectiveOutcome.of(name, spent, bound, correct, preparation)


BOTH_WAYS: dict[str, tuple[Callable[..., Bound], Callable[..., Timetable]]] = {
    "scatter": (scatter_bound, scatter_timetable),
    "gather": (gather_bound, gather_timetable),
}
"""Bound, and timetable of the fewest steps, of each collective."""


def require_algorithm(
    topology: Topology, root: int, algorithm: str | None, what: str, model: PortModel
) -> str:
    """The algorithm that a scatter or gather uses.

    Raises
    ------
    NodeError, UsageError
        The root is no processor, or there is no such algorithm here.
    """
    require_processor(topology, root)
    offered = [TREE, ROUTED] if topology.links else [ROUTED]
    if not model.half_duplex:
        offered.append(FLOW)
    return choose(topology, what, algorithm, offered)


def collect(machine: Machine, order: Preorder, rows: Ints) -> tuple[Spent, Ints, Ints]:
    """Send every processor's row to the root, each at its turn (collective).

    Parameters
    ----------
    order : Preorder
        The tree and the turns.
    rows : ndarray of int64, shape (hosted, w)
        What each of this rank's processors sends, its chunk first.

    Returns
    -------
    spent : Spent
        Steps and messages.
    came : ndarray of int64, shape (k, w)
        What the root received, in order; nothing on other ranks.
    turns : ndarray of int64, shape (k,)
        The steps of this gather in which it did.
    """
    others = machine.topology.hosts - 1 if (machine.nodes == order.root).any() else 0
    width = 1 + rows.shape[1]
    at_root = Collected("came", others, width, lambda came: np.full(len(came), order.root))
    spent = play(machine, _to_root(machine, order, rows, at_root))
    return spent, at_root.rows[:, 1:], at_root.rows[:, 0]


def _to_root(machine: Machine, order: Preorder, rows: Ints, at_root: Collected) -> StepProgram:
    """Every processor sends its row at its turn, and passes others on at once."""
    starts = np.where(order.turns > 0, order.turns - order.depths + 1, 0)
    # In the order of leaving, so that the senders of a step are one slice.
    by_start = np.argsort(starts, kind="stable")
    starts = starts[by_start]
    nobody = np.empty((0, 1 + rows.shape[1]), np.int64)
    with State(machine, "collect", at_root, step=0, passing=Located(nobody)) as state:
        while state.step < order.last:
            state.step += 1
            own = by_start[slice(*starts.searchsorted([state.step, state.step + 1]))]
            slots = np.concatenate([machine.slots(state.passing[:, 0]), own])
            payload = np.concatenate([state.passing[:, 1:], rows[own]])
            came = yield ChunkSends(slots, order.up[slots], payload[:, 0], payload=payload)
            here = came.nodes == order.root
            turns = np.full(int(here.sum()), state.step)
            at_root.add(np.column_stack([turns, came.payload[here]]))
            state.passing = np.column_stack([came.nodes[~here], came.payload[~here]])
            state.boundary()

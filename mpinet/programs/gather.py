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

    Along the tree (`Preorder`) a gather takes the optimal N-1 steps with one port on a network
    without switches. With busses the items are routed. ``flow`` (not on half-duplex links) takes
    the minimum number of steps with any ports, which is also the lower bound.

    Parameters
    ----------
    machine : Machine
        Runs the steps, enforces the port model and counts.
    root : int
        Processor that gathers.
    algorithm : str, optional
        ``"tree"``, ``"routed"`` or ``"flow"``. Default: the tree on networks of links.
    seed : int
        Seed of the items' contents.

    Raises
    ------
    NodeError, UsageError
        The root is not a processor, or the algorithm is not available.

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
        As in `gather`.
    collective : str
        ``"scatter"`` or ``"gather"``.
    along_tree : callable
        Moves the items along a tree; returns the cost, the receivers, and the received items with
        their contents.
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
"""Lower bound, and timetable with the fewest steps, of each collective."""


def require_algorithm(
    topology: Topology, root: int, algorithm: str | None, collective: str, model: PortModel
) -> str:
    """Return the algorithm of a scatter or gather.

    Raises
    ------
    NodeError, UsageError
        The root is not a processor, or the algorithm is not available.
    """
    require_processor(topology, root)
    offered = [TREE, ROUTED] if topology.links else [ROUTED]
    if not model.half_duplex:
        offered.append(FLOW)
    return choose(topology, collective, algorithm, offered)


def collect(machine: Machine, order: Preorder, rows: Ints) -> tuple[Spent, Ints, Ints]:
    """Send every processor's row to the root, each at its turn (collective).

    Parameters
    ----------
    order : Preorder
        The tree and the turns.
    rows : ndarray of int64, shape (hosted, w)
        Message of each of this rank's processors, its chunk first.

    Returns
    -------
    spent : Spent
        Steps and messages.
    came : ndarray of int64, shape (k, w)
        Messages received by the root, in order; empty on other ranks.
    turns : ndarray of int64, shape (k,)
        Step of each arrival, counted from the start of the gather.
    """
    others = machine.topology.hosts - 1 if (machine.nodes == order.root).any() else 0
    width = 1 + rows.shape[1]
    at_root = Collected("came", others, width, lambda came: np.full(len(came), order.root))
    spent = play(machine, _to_root(machine, order, rows, at_root))
    return spent, at_root.rows[:, 1:], at_root.rows[:, 0]


def _to_root(machine: Machine, order: Preorder, rows: Ints, at_root: Collected) -> StepProgram:
    """Yield the sends of a gather: each processor's row at its turn, others' rows at once."""
    starts = np.where(order.turns > 0, order.turns - order.depths + 1, 0)
    # In the order of leaving, so the senders of a step are one slice.
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

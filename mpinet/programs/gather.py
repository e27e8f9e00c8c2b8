"""Gather: every processor's item to one root, along a spanning tree or as a flow over time."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.machine.state import Collected, Located, State
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound, gather_bound
from mpinet.programs.carry import carry
from mpinet.programs.collective import CollectiveResult, choose, items, require_processor
from mpinet.programs.exchange import ROUTED, send_routed
from mpinet.programs.flow import gather_timetable
from mpinet.programs.preorder import Preorder
from mpinet.programs.preparation import NONE

TREE, FLOW = "tree", "flow"


def gather(
    machine: Machine,
    root: int,
    algorithm: str | None = None,
    seed: int = 0,
) -> CollectiveResult:
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
    name = require_algorithm(machine.topology, root, algorithm, "gather", machine.model)
    bound = gather_bound(machine, root)
    preparation = NONE
    if name == FLOW:
        timetable = gather_timetable(machine.topology, root, machine.model, bound)
        bound = Bound(timetable.last, FLOW)
    with machine.spending() as spent:
        if machine.topology.hosts == 1:
            came = np.empty((0, 2), np.int64)
        elif name == TREE:
            order = Preorder(machine, root)
            preparation = order.preparation()
            rows = np.stack([machine.nodes, items(seed, machine.nodes, machine.nodes)], axis=1)
            came, _ = collect(machine, order, rows)
        elif name == FLOW:
            hosts = machine.nodes[machine.nodes < machine.topology.hosts]
            rows = np.stack([hosts, items(seed, hosts, hosts)], axis=1)
            nodes, came = carry(
                machine, timetable, machine.slots(hosts), rows, machine.topology.hosts
            )
            came = came[(nodes == root) & (came[:, 0] != root)]
        else:
            came = _routed(machine, root, seed)
    correct = _complete(machine, root, seed, came)
    return CollectiveResult.of(name, spent, bound, correct, preparation)


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


def collect(machine: Machine, order: Preorder, rows: Ints) -> tuple[Ints, Ints]:
    """Send every processor's row to the root, each at its turn (collective).

    Parameters
    ----------
    order : Preorder
        The tree and the turns.
    rows : ndarray of int64, shape (hosted, w)
        What each of this rank's processors sends.

    Returns
    -------
    came : ndarray of int64, shape (k, w)
        What the root received, in order; nothing on other ranks.
    turns : ndarray of int64, shape (k,)
        The steps of this gather in which it did.
    """
    starts = np.where(order.turns > 0, order.turns - order.depths + 1, 0)
    by_start = np.argsort(starts, kind="stable")
    starts = starts[by_start]
    nobody = np.empty((0, 1 + rows.shape[1]), np.int64)
    others = machine.topology.hosts - 1 if (machine.nodes == order.root).any() else 0
    at_root = Collected(
        "came", others, nobody.shape[1], lambda came: np.full(len(came), order.root)
    )
    with State(machine, "collect", at_root, step=0, passing=Located(nobody)) as state:
        while state.step < order.last:
            state.step += 1
            own = by_start[slice(*starts.searchsorted([state.step, state.step + 1]))]
            slots = np.concatenate([machine.slots(state.passing[:, 0]), own])
            payload = np.concatenate([state.passing[:, 1:], rows[own]])
            inbox = machine.step(machine.nodes[slots], order.up[slots], payload)
            here = inbox.nodes == order.root
            turns = np.full(int(here.sum()), state.step)
            at_root.add(np.column_stack([turns, inbox.payload[here]]))
            state.passing = np.column_stack([inbox.nodes[~here], inbox.payload[~here]])
            state.boundary()
    return at_root.rows[:, 1:], at_root.rows[:, 0]


def _routed(machine: Machine, root: int, seed: int) -> Ints:
    """Every other processor sends its item by the routing; the rows that the root received."""
    nodes = np.sort(machine.nodes)
    nodes = nodes[(nodes < machine.topology.hosts) & (nodes != root)]
    targets, numbers = np.full_like(nodes, root), nodes - (nodes > root)
    rows = np.stack([nodes, items(seed, nodes, nodes)], axis=1)
    total = machine.topology.hosts - 1
    return send_routed(machine, nodes, targets, numbers, total, rows)[1]


def _complete(machine: Machine, root: int, seed: int, came: Ints) -> bool:
    """Tell if the root has every other processor's item once (collective)."""
    others = machine.topology.hosts - 1
    mine = bool((machine.nodes == root).any())
    origins, contents = came.T
    right = len(np.unique(origins)) == len(came) == (others if mine else 0)
    right = right and not (origins == root).any()
    right = right and np.array_equal(contents, items(seed, origins, origins))
    return machine.sum(int(not right))[0] == 0

"""Gather: every processor's item to one root, along a spanning tree or as a flow over time."""

from __future__ import annotations

import numpy as np

from mpinet.arrays import Ints
from mpinet.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import gather_bound
from mpinet.programs.collective import CollectiveResult, choose, items, require_processor
from mpinet.programs.exchange import ROUTED, send_routed
from mpinet.programs.flow import gather_timetable
from mpinet.programs.preorder import Preorder
from mpinet.programs.preparation import NONE
from mpinet.programs.schedules.timetable import Part, Timetable

TREE, FLOW = "tree", "flow"


def gather(
    machine: Machine,
    root: int,
    algorithm: str | None = None,
    seed: int = 0,
) -> CollectiveResult:
    """Bring an item of every other processor to the root, one per message (collective).

    Along the tree (`Preorder`) it takes N-1 steps with one port in a network without switches,
    which nothing beats. With busses the items are routed. ``flow`` (links of full duplex) takes the
    fewest steps that there are, with any ports; its steps are the lower bound.

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
    preparation, lower_by = NONE, ""
    if name == FLOW:
        timetable = gather_timetable(machine.topology, root, machine.model, bound)
        bound, lower_by = timetable.last, FLOW
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
            nodes, came = carry(machine, timetable, machine.slots(hosts), rows)
            came = came[(nodes == root) & (came[:, 0] != root)]
        else:
            came = _routed(machine, root, seed)
    correct = _complete(machine, root, seed, came)
    return CollectiveResult.of(name, spent, bound, correct, preparation, lower_by=lower_by)


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
    if topology.links and not model.half_duplex:
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
    bounds = np.searchsorted(starts[by_start], np.arange(1, order.last + 2))
    passing, carried = by_start[:0], rows[:0]
    came, turns = [carried], [passing]
    for step in range(1, order.last + 1):
        own = by_start[bounds[step - 1] : bounds[step]]
        slots = np.concatenate([passing, own])
        payload = np.concatenate([carried, rows[own]])
        inbox = machine.step(machine.nodes[slots], order.tree.up[slots], payload)
        here = inbox.nodes == order.root
        came.append(inbox.payload[here])
        turns.append(np.full(int(here.sum()), step))
        passing, carried = machine.slots(inbox.nodes[~here]), inbox.payload[~here]
    return np.concatenate(came), np.concatenate(turns)


def carry(machine: Machine, timetable: Timetable, slots: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Move items as a timetable says, each of which is in one place at a time (collective).

    Parameters
    ----------
    timetable : Timetable
        The same on all ranks; a chunk is an item.
    slots : ndarray of int64, shape (k,)
        Who of this rank's nodes have items at the start.
    rows : ndarray of int64, shape (k, 2)
        The items that they have, and their contents.

    Returns
    -------
    nodes : ndarray of int64, shape (m,)
        This rank's nodes that have items in the end, one for each.
    rows : ndarray of int64, shape (m, 2)
        What they have.
    """
    part = Part(machine, timetable)
    chunks = timetable.chunk[part.index]
    place = np.full(machine.topology.hosts, -1, np.int64)
    contents = np.full_like(place, -1)
    place[rows[:, 0]], contents[rows[:, 0]] = slots, rows[:, 1]
    for step in range(1, timetable.last + 1):
        sends = part.sends(step)
        senders, sent = part.slots[sends], chunks[sends]
        payload = np.stack([sent, np.where(place[sent] == senders, contents[sent], -1)], axis=1)
        place[sent] = -1
        inbox = machine.step(machine.nodes[senders], part.ports[sends], payload)
        came, inside = inbox.payload.T
        place[came], contents[came] = machine.slots(inbox.nodes), inside
    here = np.flatnonzero(place >= 0)
    return machine.nodes[place[here]], np.stack([here, contents[here]], axis=1)


def _routed(machine: Machine, root: int, seed: int) -> Ints:
    """Every other processor sends its item by the routing; the rows that the root received."""
    nodes = np.sort(machine.nodes)
    nodes = nodes[(nodes < machine.topology.hosts) & (nodes != root)]
    targets, numbers = np.full_like(nodes, root), nodes - (nodes > root)
    rows = np.stack([nodes, items(seed, nodes, nodes)], axis=1)
    total = machine.topology.hosts - 1
    return send_routed(machine, nodes, targets, numbers, total, rows)[1]


def _complete(machine: Machine, root: int, seed: int, came: Ints) -> bool:
    """Whether the root has every other processor's item once (collective)."""
    others = machine.topology.hosts - 1
    mine = bool((machine.nodes == root).any())
    origins, contents = came.T
    right = len(np.unique(origins)) == len(came) == (others if mine else 0)
    right = right and not (origins == root).any()
    right = right and np.array_equal(contents, items(seed, origins, origins))
    return machine.sum(int(not right))[0] == 0

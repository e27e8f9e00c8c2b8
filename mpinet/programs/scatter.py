"""Scatter: a different item to every processor from one root, along a tree or as a flow."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine
from mpinet.machine.state import Collected, Located, State
from mpinet.programs.bounds import Bound, scatter_bound
from mpinet.programs.carry import carry
from mpinet.programs.collective import CollectiveResult, items
from mpinet.programs.exchange import send_routed
from mpinet.programs.flow import scatter_timetable
from mpinet.programs.gather import FLOW, TREE, collect, require_algorithm
from mpinet.programs.preorder import Preorder
from mpinet.programs.preparation import NONE, Preparation
from mpinet.programs.schedules.timetable import Timetable


def scatter(
    machine: Machine,
    root: int,
    algorithm: str | None = None,
    seed: int = 0,
) -> CollectiveResult:
    """Bring a different item to every other processor, one per message (collective).

    Along the tree it is the gather backwards: the root sends in every step, the deepest branches
    first, and every node passes on at once; a message carries its receiver's number in the walk.

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts.
    root : int
        The processor that has the items.
    algorithm : str, optional
        ``"tree"``, ``"routed"`` or ``"flow"``, which takes the fewest steps that there are, but not
        on links of half duplex. Default: the tree where there are links.
    seed : int
        Chooses the items' contents.

    Raises
    ------
    NodeError, UsageError
        The root is no processor, or there is no such algorithm here.

    Examples
    --------
    >>> found = scatter(Machine("torus:4x4", "one"), root=0)
    >>> found.algorithm, found.steps, found.lower_bound, found.correct
    ('tree', 15, 15, True)
    """
    name = require_algorithm(machine.topology, root, algorithm, "scatter", machine.model)
    bound = scatter_bound(machine, root)
    preparation = NONE
    if name == FLOW:
        timetable = scatter_timetable(machine.topology, root, machine.model, bound)
        bound = Bound(timetable.last, FLOW)
    with machine.spending() as spent:
        if machine.topology.hosts == 1:
            nodes, contents = machine.nodes[:0], machine.nodes[:0]
        elif name == TREE:
            nodes, contents, preparation = _along_tree(machine, root, seed)
        elif name == FLOW:
            nodes, contents = _flowing(machine, timetable, root, seed)
        else:
            nodes, contents = _routed(machine, root, seed)
    correct = _complete(machine, root, seed, nodes, contents)
    return CollectiveResult.of(name, spent, bound, correct, preparation)


def _along_tree(machine: Machine, root: int, seed: int) -> tuple[Ints, Ints, Preparation]:
    """Return who received what, processors and contents; and what it took before."""
    order = Preorder(machine, root)
    queue, leaves = _queue(order, root, seed)
    preparation = order.preparation()
    source = np.flatnonzero(machine.nodes == root)
    nobody = np.empty((0, 3), np.int64)
    came = Collected("came", len(machine.nodes), 2)
    with State(machine, "scatter", came, step=0, passing=Located(nobody)) as state:
        while state.step < order.last:
            state.step += 1
            own = queue[slice(*leaves.searchsorted([state.step, state.step + 1]))]
            passing = machine.slots(state.passing[:, 0])
            slots = np.concatenate([passing, np.repeat(source, len(own))])
            payload = np.concatenate([state.passing[:, 1:], own])
            ports = order.child_port(slots, payload[:, 0])
            inbox = machine.step(machine.nodes[slots], ports, payload)
            here = inbox.payload[:, 0] == order.labels[machine.slots(inbox.nodes)]
            rows = np.column_stack([inbox.nodes, inbox.payload])
            came.add(rows[here, ::2])
            state.passing = rows[~here]
            state.boundary()
    return came.rows[:, 0], came.rows[:, 1], preparation


def _queue(order: Preorder, root: int, seed: int) -> tuple[Ints, Ints]:
    """The root's rows (label, contents) and when they leave, learned by gathering the addresses."""
    survey = order.survey
    known, turns = collect(survey, order, np.stack([order.labels, survey.nodes], axis=1))
    known = known[::-1]
    queue = known.copy()
    queue[:, 1] = items(seed, np.full(len(known), root), np.ascontiguousarray(known[:, 1]))
    return queue, order.last + 1 - turns[::-1]


def _flowing(machine: Machine, timetable: Timetable, root: int, seed: int) -> tuple[Ints, Ints]:
    """Return who received what, where the items go by a timetable."""
    targets = np.arange(machine.topology.hosts if (machine.nodes == root).any() else 0)
    targets = targets[targets != root]
    sources = np.full_like(targets, root)
    rows = np.stack([targets, items(seed, sources, targets)], axis=1)
    nodes, came = carry(machine, timetable, machine.slots(sources), rows, machine.topology.hosts)
    return nodes, came[:, 1]


def _routed(machine: Machine, root: int, seed: int) -> tuple[Ints, Ints]:
    """Return who received what, where the root's items are routed."""
    others = machine.topology.hosts - 1
    numbers = np.arange(others if (machine.nodes == root).any() else 0)
    targets = numbers + (numbers >= root)
    sources = np.full_like(targets, root)
    rows = np.stack([sources, items(seed, sources, targets)], axis=1)
    nodes, came = send_routed(machine, sources, targets, numbers, others, rows)
    return nodes, came[:, 1]


def _complete(machine: Machine, root: int, seed: int, nodes: Ints, contents: Ints) -> bool:
    """Tell if every other processor has its item once (collective)."""
    wanted = np.sort(machine.nodes)
    wanted = wanted[(wanted < machine.topology.hosts) & (wanted != root)]
    right = np.array_equal(np.sort(nodes), wanted)
    right = right and np.array_equal(contents, items(seed, np.full_like(nodes, root), nodes))
    return machine.sum(int(not right))[0] == 0

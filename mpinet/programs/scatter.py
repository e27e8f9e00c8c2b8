"""Scatter: a different item to every processor from one root, along a tree or as a flow."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine, Spent
from mpinet.machine.state import Collected, Located, State
from mpinet.programs.collective import CollectiveOutcome
from mpinet.programs.gather import collect, move_between
from mpinet.programs.holdings import ChunkSends, first_rows
from mpinet.programs.kinds import Purpose
from mpinet.programs.playing import StepProgram, play
from mpinet.programs.preorder import Preorder


def scatter(
    machine: Machine,
    root: int,
    algorithm: str | None = None,
    seed: int = 0,
) -> CollectiveOutcome:
    """Bring a different item to every other processor, one per message (collective).

    Along the tree a scatter is a reversed gather: the root sends in every step, the deepest
    branches first, and every node forwards at once. A message carries its receiver's number in the
    walk.

    Parameters
    ----------
    machine : Machine
        Runs the steps, enforces the port model and counts.
    root : int
        Processor that holds the items.
    algorithm : str, optional
        ``"tree"``, ``"routed"`` or ``"flow"``. Default: the tree on networks of links. ``"flow"``
        takes the minimum number of steps, but does not support half-duplex links.
    seed : int
        Seed of the items' contents.

    Raises
    ------
    NodeError, UsageError
        The root is not a processor, or the algorithm is not available.

    Examples
    --------
    >>> found = scatter(Machine("torus:4x4", "one"), root=0)
    >>> found.algorithm, found.steps, found.lower_bound, found.correct
    ('tree', 15, 15, True)
    """

    def along_tree(order: Preorder) -> tuple[Spent, Ints, Ints]:
        came = Collected("came", len(machine.nodes), 3)
        spent = play(machine, _from_root(machine, order, seed, came))
        return spent, came.rows[:, 0], came.rows[:, 1:]

    return move_between(machine, "scatter", root, algorithm, seed, along_tree)


def _from_root(machine: Machine, order: Preorder, seed: int, kept: Collected) -> StepProgram:
    """Yield the sends: the root sends in every step, and other nodes forward at once.

    A message carries its receiver's number in the walk, which determines the ports, and the
    receiver and the content.
    """
    queue, leaves = _queue(order, seed)
    source = np.flatnonzero(machine.nodes == order.root)
    nobody = np.empty((0, 4), np.int64)
    with State(machine, "scatter", kept, step=0, passing=Located(nobody)) as state:
        while state.step < order.last:
            state.step += 1
            own = queue[slice(*leaves.searchsorted([state.step, state.step + 1]))]
            passing = machine.slots(state.passing[:, 0])
            slots = np.concatenate([passing, np.repeat(source, len(own))])
            payload = np.concatenate([state.passing[:, 1:], own])
            ports = order.child_port(slots, payload[:, 0])
            came = yield ChunkSends(slots, ports, payload[:, 1], payload=payload)
            here = came.payload[:, 0] == order.labels[came.slots]
            rows = np.column_stack([came.nodes, came.payload])
            kept.add(np.delete(rows[here], 1, axis=1))
            state.passing = rows[~here]
            state.boundary()


def _queue(order: Preorder, seed: int) -> tuple[Ints, Ints]:
    """Return the root's rows (label, chunk, content), and the steps of their sends.

    The root gathers the labels and processors first.
    """
    survey = order.survey
    known, turns = collect(survey, order, np.stack([order.labels, survey.nodes], axis=1))[1:]
    known = known[::-1]
    chunks = np.ascontiguousarray(known[:, 1])
    purpose = Purpose("scatter", survey.topology.hosts, 1, order.root)
    rows = first_rows(purpose, seed, np.full(len(known), order.root), chunks)
    return np.column_stack([known[:, 0], rows]), order.last + 1 - turns[::-1]

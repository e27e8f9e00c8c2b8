"""Gossip along a tree, for any network of links: one item per message, each over each link once.

Every node keeps the items in the order in which they came and sends over each of its links those
that did not come over it. With one port the links take turns by colour: no two of a node's links
have the same colour, so that nobody sends or receives twice in a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpinet.base.arrays import Flags, Ints, ShortRows, Table, Tables
from mpinet.compiled import kernel
from mpinet.machine import Machine
from mpinet.machine.state import Fields, Numbered, State
from mpinet.programs.preparation import Preparation
from mpinet.programs.tree import Tree

OWN = -1
"""Port that a node's own item came by."""

ROOT = 0


def gossip_along_tree(
    machine: Machine,
    own: Ints,
    take: Callable[[Ints, Ints], None],
) -> Preparation:
    """Bring every processor's row to all processors; what it took before (collective).

    Parameters
    ----------
    machine : Machine
        Of links; moves, polices and counts.
    own : ndarray of int64, shape (hosted, 2)
        Every processor's row (origin, contents).
    take : callable
        Called with the slots and rows of what came in a step.
    """
    tree = Tree(machine, ROOT)
    arcs = _arcs(machine, tree)
    preparation = Preparation.on(tree.survey)
    hosts = machine.nodes < machine.topology.hosts
    held = _Queues(machine, own, hosts)
    concerned = hosts | (tree.children > 0)
    # Switches without a processor below need nothing; all others get every item, their own aside.
    left = machine.sum(int(concerned.sum()) * machine.topology.hosts - int(hosts.sum()))[0]
    turns = [np.flatnonzero(arcs.turns == turn) for turn in range(arcs.period)]
    arcs_at = machine.nodes[arcs.slots] * machine.topology.ports + arcs.ports
    sent = Numbered(np.zeros(len(arcs.slots), np.int64), arcs_at)
    with State(machine, "tree", held, left=left, step=0, sent=sent) as state:
        while state.left:
            turn = turns[state.step % arcs.period]
            slots, ports, rows = held.next_over(arcs, turn, state.sent)
            inbox = machine.step(machine.nodes[slots], ports, rows, word=len(slots))
            receivers = machine.slots(inbox.nodes)
            held.keep(receivers, inbox.ports, inbox.payload)
            take(receivers, inbox.payload)
            state.left -= inbox.total
            state.step += 1
            state.boundary()
    return preparation


@dataclass(frozen=True, eq=False)
class _Arcs:
    """The tree's links as seen by this rank's nodes, and when they are used."""

    slots: Ints
    """Slot of each arc's node. Shape (k,)."""
    ports: Ints
    """Port of each arc. Shape (k,)."""
    turns: Ints
    """Step, modulo the period, in which the node may send on the arc. Shape (k,)."""
    period: int
    """Steps after which the turns come again."""


def _arcs(machine: Machine, tree: Tree) -> _Arcs:
    """All links of the tree; with one port by colours, half duplex down and up in turn."""
    children = tree.children
    parents = np.repeat(np.arange(len(children)), children)
    index = np.arange(len(parents)) - np.repeat(np.cumsum(children) - children, children)
    ports = tree.child_port(parents, index)
    upward, colors = _colors(tree, parents, ports, index)
    model = machine.model
    one_port = model.send is not None or model.receive is not None
    if not one_port:
        upward, colors = np.minimum(upward, 0), np.zeros_like(colors)
    below = np.flatnonzero(upward >= 0)
    turns = np.concatenate([colors, upward[below]])
    period = machine.max(int(turns.max(initial=0)))[0] + 1
    if model.half_duplex:
        turns = 2 * turns + np.repeat([0, 1], [len(colors), len(below)])
        period *= 2
    slots = np.concatenate([parents, below])
    return _Arcs(slots, np.concatenate([ports, tree.up[below]]), turns, period)


def _colors(tree: Tree, parents: Ints, ports: Ints, index: Ints) -> tuple[Ints, Ints]:
    """Colours of the links upwards, by slot, and to the children; sent downwards from the root.

    A node gives its children the lowest colours that are not the one of its own link upwards,
    which is -1 at the root and where there is no processor below.
    """
    machine = tree.survey
    upward = np.full(len(machine.nodes), -1, np.int64)
    colors = np.zeros(len(parents), np.int64)
    informed = machine.nodes == ROOT
    fresh = informed[parents]
    while machine.sum(int(fresh.sum()))[0]:
        own = upward[parents[fresh]]
        colors[fresh] = index[fresh] + ((own >= 0) & (index[fresh] >= own))
        inbox = machine.step(machine.nodes[parents[fresh]], ports[fresh], colors[fresh])
        slots = machine.slots(inbox.nodes)
        upward[slots] = inbox.payload
        informed[:] = False
        informed[slots] = True
        fresh = informed[parents]
    return upward, colors


class _Queues:
    """Queues of items at this rank's nodes, in the order in which they came."""

    def __init__(self, machine: Machine, own: Ints, hosts: Flags):
        shape = (machine.placement.count, machine.topology.hosts)
        self._nodes = machine.nodes
        self._rows = np.empty((*shape, 2), np.int64)
        self._came_by = np.empty(shape, np.int32)
        self._rows[hosts, 0] = own[hosts]
        self._came_by[hosts, 0] = OWN
        self._count = hosts.astype(np.int64)

    def state(self) -> Fields:
        """Return what a checkpoint holds of it."""
        return {
            "items": Numbered(self._rows, self._nodes),
            "came_by": Numbered(self._came_by, self._nodes),
            "count": Numbered(self._count, self._nodes),
        }

    def restore(self, found: Mapping[str, Any]) -> None:
        """Go on from what `state` gave on any ranks."""
        self._rows, self._came_by, self._count = found["items"], found["came_by"], found["count"]

    def next_over(self, arcs: _Arcs, turn: Ints, sent: Ints) -> tuple[Ints, Ints, Ints]:
        """Return what goes over these of the arcs now: senders' slots, ports, rows."""
        rows = np.empty((len(turn), 2), np.int64)
        sends = np.zeros(len(turn), np.bool_)
        find_next(
            turn, arcs.slots, arcs.ports, sent, self._rows, self._came_by, self._count, rows, sends
        )
        return arcs.slots[turn[sends]], arcs.ports[turn[sends]], rows[sends]

    def keep(self, slots: Ints, ports: Ints, rows: Ints) -> None:
        """Put what came behind the rest."""
        keep_rows(slots, ports, np.ascontiguousarray(rows), self._rows, self._came_by, self._count)


@kernel
def find_next(
    turn: Ints,
    slots: Ints,
    ports: Ints,
    sent: Ints,
    held: Tables,
    came_by: ShortRows,
    count: Ints,
    rows: Table,
    sends: Flags,
) -> None:
    """Write the next row to send over each arc, past those that came over it, if there is one."""
    for i in range(turn.size):
        arc = turn[i]
        slot, place = slots[arc], sent[arc]
        # The neighbour on the arc has what came from there, and what lies before `sent`.
        while place < count[slot] and came_by[slot, place] == ports[arc]:
            place += 1
        if place < count[slot]:
            rows[i, 0], rows[i, 1] = held[slot, place, 0], held[slot, place, 1]
            sends[i] = True
            place += 1
        sent[arc] = place


@kernel
def keep_rows(
    slots: Ints, ports: Ints, rows: Table, held: Tables, came_by: ShortRows, count: Ints
) -> None:
    """Append what came in by a port to what its receiver holds."""
    for i in range(slots.size):
        slot = slots[i]
        held[slot, count[slot], 0], held[slot, count[slot], 1] = rows[i, 0], rows[i, 1]
        came_by[slot, count[slot]] = ports[i]
        count[slot] += 1

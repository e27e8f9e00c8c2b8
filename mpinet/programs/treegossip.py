"""Gossip along a tree, for any network of links: one item per message, each over each link once.

Every node keeps the items in the order in which they came and sends over each of its links those
that did not come over it. With one port the links take turns by colour: no two of a node's links
have the same colour, so that nobody sends or receives twice in a step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Array, Ints, ShortRows
from mpinet.compiled import kernel
from mpinet.machine import Machine
from mpinet.machine.state import Numbered, State
from mpinet.programs.holdings import ChunkSends, MarkedChunks
from mpinet.programs.playing import StepProgram
from mpinet.programs.tree import RoutingTree

NO_CHUNK = -1
"""In place of a chunk: nothing is to be sent."""

OWN = -1
"""Port that a node's own item came by."""


def gossip_along_tree(
    machine: Machine, tree: RoutingTree, arcs: TreeArcs, held: MarkedChunks
) -> StepProgram:
    """Send every processor's item to all processors, over links alone."""
    hosts = machine.nodes < machine.topology.hosts
    concerned = hosts | (tree.children > 0)
    # Switches without a processor below need nothing; all others get every item, their own aside.
    left = machine.sum(int(concerned.sum()) * machine.topology.hosts - int(hosts.sum()))[0]
    turns = [np.flatnonzero(arcs.turns == turn) for turn in range(arcs.period)]
    arcs_at = machine.nodes[arcs.slots] * machine.topology.ports + arcs.ports
    sent = Numbered(np.zeros(len(arcs.slots), np.int64), arcs_at)
    # Each node's queue: its chunks in the order in which they came, and the port of each.
    chunks, came_by = np.empty((2, len(hosts), machine.topology.hosts), np.int32)
    chunks[hosts, 0], came_by[hosts, 0] = machine.nodes[hosts], OWN
    queues: dict[str, Array] = {
        "chunks": chunks,
        "came_by": came_by,
        "count": hosts.astype(np.int64),
    }
    kept = {name: Numbered(queue, machine.nodes) for name, queue in queues.items()}
    with State(machine, "tree", held, left=left, step=0, sent=sent, **kept) as state:
        while state.left:
            turn = turns[state.step % arcs.period]
            found = np.full(len(turn), NO_CHUNK)
            places = (state.chunks, state.came_by, state.count)
            find_next(turn, arcs.slots, arcs.ports, state.sent, *places, found)
            sends = found != NO_CHUNK
            over = turn[sends]
            slots = arcs.slots[over]
            came = yield ChunkSends(slots, arcs.ports[over], found[sends], word=len(slots))
            new = np.ascontiguousarray(came.payload[:, 0])
            keep_chunks(came.slots, came.ports, new, *places)
            state.left -= came.total
            state.step += 1
            state.boundary()


@dataclass(frozen=True, eq=False)
class TreeArcs:
    """The tree's links as seen by this rank's nodes, and when they are used."""

    slots: Ints
    """Slot of each arc's node. Shape (k,)."""
    ports: Ints
    """Port of each arc. Shape (k,)."""
    turns: Ints
    """Step, modulo the period, in which the node may send on the arc. Shape (k,)."""
    period: int
    """Steps after which the turns come again."""


def arcs_of(machine: Machine, tree: RoutingTree) -> TreeArcs:
    """All links of the tree; with one port by colours, half duplex down and up in turn."""
    parents, index, ports = tree.branches
    upward, colors = _colors(tree, parents, ports, index)
    model = machine.model
    one_port = model.send is not None or model.receive is not None
    if not one_port:
        # All ports at once need no colours. The minimum keeps -1 where there is no link upwards.
        upward, colors = np.minimum(upward, 0), np.zeros_like(colors)
    below = np.flatnonzero(upward >= 0)
    turns = np.concatenate([colors, upward[below]])
    period = machine.max(int(turns.max(initial=0)))[0] + 1
    if model.half_duplex:
        # A half-duplex link carries one message per step: down in even steps, up in odd ones.
        turns = 2 * turns + np.repeat([0, 1], [len(colors), len(below)])
        period *= 2
    slots = np.concatenate([parents, below])
    return TreeArcs(slots, np.concatenate([ports, tree.up[below]]), turns, period)


def _colors(tree: RoutingTree, parents: Ints, ports: Ints, index: Ints) -> tuple[Ints, Ints]:
    """Colours of the links upwards, by slot, and to the children; sent downwards from the root.

    A node gives its children the lowest colours that are not the one of its own link upwards,
    which is -1 at the root and where there is no processor below.
    """
    machine = tree.survey
    upward = np.full(len(machine.nodes), -1, np.int64)
    colors = np.zeros(len(parents), np.int64)
    informed = tree.up < 0
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


@kernel
def find_next(
    turn: Ints,
    slots: Ints,
    ports: Ints,
    sent: Ints,
    held: ShortRows,
    came_by: ShortRows,
    count: Ints,
    chunks: Ints,
) -> None:
    """Write the next chunk to send over each arc, past those that came over it, if there is one."""
    for i in range(turn.size):
        arc = turn[i]
        slot, place = slots[arc], sent[arc]
        # The neighbour on the arc has what came from there, and what lies before `sent`.
        while place < count[slot] and came_by[slot, place] == ports[arc]:
            place += 1
        if place < count[slot]:
            chunks[i] = held[slot, place]
            place += 1
        sent[arc] = place


@kernel
def keep_chunks(
    slots: Ints, ports: Ints, chunks: Ints, held: ShortRows, came_by: ShortRows, count: Ints
) -> None:
    """Append what came in by a port to what its receiver holds."""
    for i in range(slots.size):
        slot = slots[i]
        held[slot, count[slot]] = np.int32(chunks[i])
        came_by[slot, count[slot]] = np.int32(ports[i])
        count[slot] += 1

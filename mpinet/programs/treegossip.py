"""Gossip along a tree on any network of links: each message carries one item over one link.

Every node queues items in order of arrival. Over each of its links the node sends all items except
those received over the same link. With one port the links take turns by colour. The links of a node
have different colours, so no node sends or receives twice in a step.
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
"""Marker in place of a chunk number: nothing to send."""

OWN = -1
"""Marker in place of an arrival port: the node's own item."""


def gossip_along_tree(
    machine: Machine, tree: RoutingTree, arcs: TreeArcs, held: MarkedChunks
) -> StepProgram:
    """Yield the sends of a gossip along a spanning tree of links."""
    hosts = machine.nodes < machine.topology.hosts
    concerned = hosts | (tree.children > 0)
    # Switches without a processor below need no item. All other nodes receive every item except
    # their own.
    left = machine.sum(int(concerned.sum()) * machine.topology.hosts - int(hosts.sum()))[0]
    turns = [np.flatnonzero(arcs.turns == turn) for turn in range(arcs.period)]
    arcs_at = machine.nodes[arcs.slots] * machine.topology.ports + arcs.ports
    sent = Numbered(np.zeros(len(arcs.slots), np.int64), arcs_at)
    # Queue of each node: chunks in order of arrival, with the arrival port of each.
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
    """Links of the tree at this rank's nodes, with the steps of their use."""

    slots: Ints
    """Slot of each arc's sending node. Shape (k,)."""
    ports: Ints
    """Sending port of each arc. Shape (k,)."""
    turns: Ints
    """Step of each arc's sends, modulo the period. Shape (k,)."""
    period: int
    """Length of a round of turns, in steps."""


def arcs_of(machine: Machine, tree: RoutingTree) -> TreeArcs:
    """Return the arcs of a tree at this rank's nodes, with their turns.

    With one port, turns are colours. Half-duplex links alternate between down and up.
    """
    parents, index, ports = tree.branches
    upward, colors = _colors(tree, parents, ports, index)
    model = machine.model
    one_port = model.send is not None or model.receive is not None
    if not one_port:
        # With all ports, colours are unnecessary. The minimum keeps -1 at nodes without an upward
        # link.
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
    """Return the colours of the upward links, by slot, and of the links to children.

    Colours are sent downwards from the root. A node gives its children the lowest colours, leaving
    out the colour of its own upward link. The colour is -1 at the root and at nodes without a
    processor below.
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
    """Write the next chunk for each arc in turn, skipping the chunks received over the same arc.

    `chunks` stays unchanged at arcs without a chunk to send.
    """
    for i in range(turn.size):
        arc = turn[i]
        slot, place = slots[arc], sent[arc]
        # The neighbour already has chunks received over this arc, and chunks before index `sent`.
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
    """Append received chunks and their ports to the queues of the receivers."""
    for i in range(slots.size):
        slot = slots[i]
        held[slot, count[slot]] = np.int32(chunks[i])
        came_by[slot, count[slot]] = np.int32(ports[i])
        count[slot] += 1

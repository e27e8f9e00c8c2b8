"""Scatter and gather in the fewest steps: items as a flow over time, exact at any size that fits.

The items of a gather are interchangeable until they reach the root. The minimum number of steps is
therefore the smallest T for which a flow brings all items to the root through the network of places
in time. A place is a node after a step t.

* A link leads from its sender after step t to its receiver after step t + 1 and carries one item.
* A bus has two places per step, with capacity for one item between them.
* If a port model limits the sends or receives of a node per step, items pass a gate of this
  capacity.

If an item finds no augmenting path for T steps, the reached places are a minimum cut: T steps are
too few. A scatter is a reversed gather, with send and receive limits exchanged. Every rank finds
the same timetable.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, replace
from itertools import starmap
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Ints, ShortRows, Shorts
from mpinet.base.memory import require_memory
from mpinet.compiled import kernel
from mpinet.errors import TooLarge
from mpinet.machine.beep import wired
from mpinet.machine.model import PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.buspasses import BusMembers
from mpinet.programs.schedules.timetable import Timetable

MOST_ARCS = 2**26
"""Maximum number of arcs in the network of places in time."""

BYTES_AN_ARC, BYTES_A_PLACE = 4, 20
"""Bytes of the search per arc and per place."""

NODES_AND_GATES = 3
"""Number of places per node: the node, its gate for sends, and its gate for receives."""

NEVER = 2**30
"""Distance of places from which the root cannot be reached."""


def gather_timetable(topology: Topology, root: int, model: PortModel, bound: int) -> Timetable:
    """Return a gather with the fewest steps.

    Parameters
    ----------
    topology : Topology
        A connected network, of full-duplex links or of busses.
    root : int
        Processor that gathers.
    model : PortModel
        Limits of sends and receives per step.
    bound : int
        Lower bound of the steps, at which the search begins.

    Raises
    ------
    TooLarge
        The network of places in time is too large.
    """
    return _items_on_their_way(topology, root, model, bound, "gather")


def scatter_timetable(topology: Topology, root: int, model: PortModel, bound: int) -> Timetable:
    """Return a scatter with the fewest steps; parameters and errors as in `gather_timetable`."""
    backwards = PortModel(model.receive, model.send)
    found = _items_on_their_way(topology, root, backwards, bound, "scatter")
    return replace(
        found,
        step=found.last + 1 - found.step,
        sender=found.receiver,
        receiver=found.sender,
        port=None if found.port is None else topology.reverse_port(found.sender, found.port),
    ).ordered()


@dataclass(frozen=True)
class FlowCut:
    """Cut that proves a number of steps too small for a gather: a set of places in time."""

    since: list[int]
    """Step after which each node belongs to the set; 0: from the beginning, -1: never."""
    senders: list[list[int]]
    """Pairs of sender and step counted once, for all links or busses from there out of the set."""
    receivers: list[list[int]]
    """Pairs of receiver and step counted once, for all links or busses to it out of the set."""


def minimum_cut(topology: Topology, root: int, model: PortModel, steps: int) -> FlowCut | None:
    """Return the cut that proves `steps` steps too few for a gather; None if they suffice.

    Parameters
    ----------
    topology, root, model
        As in `gather_timetable`.
    steps : int
        Number of steps, 0 or more.
    """
    _require_fit("gather", topology, steps)
    search = _FlowSearch(topology, root, model)
    flow = np.zeros((steps, len(search.places.tail)), np.int32)
    sent, seen = search.augment(0, flow)
    if sent == len(search.sources):
        return None
    size, within = topology.size, seen.reshape(steps + 1, search.places.number) == sent
    inside, out, into = (within[:, part * size : (part + 1) * size] for part in range(3))
    # A node once inside stays inside: waiting costs nothing, so the arc to its next step is never
    # full.
    since = np.where(inside.any(axis=0), inside.argmax(axis=0), -1)
    senders = inside[:-1] & ~out[:-1] & (model.send is not None)
    receivers = into[:-1] & ~inside[1:] & (model.receive is not None)
    moments = [np.argwhere(on)[:, ::-1] + np.array([0, 1]) for on in (senders, receivers)]
    return FlowCut(since.tolist(), moments[0].tolist(), moments[1].tolist())


class _FlowSearch:
    """Search for a flow of items to the root through the network of places in time."""

    def __init__(self, topology: Topology, root: int, model: PortModel):
        self.root, self.places = root, TimedPlaces.of(topology, model)
        places = self.places
        distance = np.full(places.number, NEVER, np.int64)
        measure(root, places.tail, places.head, places.delay, distance)
        sources = np.setdiff1d(np.arange(topology.hosts), [root])
        # Near sources first: their paths are short, and later augmentations rarely have to move
        # them.
        self.sources = sources[np.argsort(distance[sources], kind="stable")]
        self._begin, self._arcs = places.ways(distance)

    def augment(self, sent: int, flow: ShortRows) -> tuple[int, NDArray[np.int32]]:
        """Send more items; return the number sent so far, and the last item to visit each place."""
        places = self.places
        seen = np.full((len(flow) + 1) * places.number, -1, np.int32)
        numbers = (places.tail, places.head, places.delay, places.capacity)
        ways = (self._begin, self._arcs)
        return int(augment(self.root, self.sources, sent, *ways, *numbers, flow, seen)), seen


def _items_on_their_way(
    topology: Topology, root: int, model: PortModel, steps: int, what: str
) -> Timetable:
    """Search the fewest steps of a gather; return its timetable, by step."""
    _require_fit(what, topology, steps)
    search = _FlowSearch(topology, root, model)
    places, sources = search.places, search.sources
    flow, sent = np.zeros((0, len(places.tail)), np.int32), 0
    while sent < len(sources):
        _require_fit(what, topology, steps)
        # A flow in T steps is also a flow in T + 1 steps, so only the missing items need a search.
        longer = np.zeros((steps, len(places.tail)), np.int32)
        longer[: len(flow)] = flow
        flow = longer
        sent, _ = search.augment(sent, flow)
        steps += 1
    rows = [
        (at + 1, move.sender, move.receiver, item, move.channel)
        for item, way in _ways_of_items(places, flow, sources).items()
        for at, move in way
    ]
    columns = np.array(rows, np.int64).reshape(-1, 5)
    return Timetable.of(what, topology, columns, root=root, ports=model.name).ordered()


def _require_fit(what: str, topology: Topology, steps: int) -> None:
    """Raise `TooLarge` unless the network of places in time fits."""
    places, over = NODES_AND_GATES * topology.size, topology.most_wired
    if topology.busses is not None:  # busses of two or more members: at most two arcs per port
        places, over = places + 2 * topology.busses, 2 * over + topology.busses
    arcs = (over + NODES_AND_GATES * topology.size) * steps
    if arcs > MOST_ARCS:
        raise TooLarge(
            f"The flow over time of a {what} on {topology.name} has {arcs:,} arcs in {steps} "
            f"steps; at most {MOST_ARCS:,} are searched."
        )
    needed = 2 * arcs * BYTES_AN_ARC + places * (steps + 1) * BYTES_A_PLACE
    require_memory(needed, f"The flow over time of a {what} on {topology.name}")


class Move(NamedTuple):
    """Move of an item in a step: by a port of the sender, or over a bus."""

    sender: int
    receiver: int
    channel: int


@dataclass(frozen=True, eq=False)
class TimedPlaces:
    """A step of the network of places in time: nodes, their gates, and both sides of busses."""

    number: int
    """Number of places."""
    tail: Ints
    """Place at which each arc begins. Shape (a,)."""
    head: Ints
    """Place at which each arc ends. Shape (a,)."""
    delay: Ints
    """Duration of each arc in steps, 0 or 1. Shape (a,)."""
    capacity: Ints
    """Capacity of each arc, in items per step. Shape (a,)."""
    links: tuple[Ints, ...]
    """Senders, ports and receivers of the first arcs, one for each direction of a link. With
    busses: members and their busses; arcs onto the busses come first, then arcs off them. Shape
    (l,).
    """
    busses: int | None
    """Number of busses; None for networks of links."""

    @classmethod
    def of(cls, topology: Topology, model: PortModel) -> TimedPlaces:
        """Return the places of a network under a port model, with gates for its limits."""
        size, every = topology.size, np.arange(topology.size)
        # A limit on ports is a gate: an arc of this capacity before all links of a node. Without a
        # limit the gate is left out, since each place costs memory in every step.
        out = every if model.send is None else every + size
        into = every if model.receive is None else every + 2 * size
        # A message takes one step. The step passes on the message's last arc: through the gate of
        # the receiver, or over the link itself without a gate.
        without_gate = int(model.receive is None)
        number = NODES_AND_GATES * size
        if topology.busses is None:
            links: tuple[Ints, ...] = _links(topology)
            arcs = [(out[links[0]], into[links[2]], without_gate, 1)]
        else:
            busses, lists = np.arange(topology.busses) + number, BusMembers.of(topology)
            member, on = np.repeat(every, np.diff(lists.node_begin)), lists.busses
            links, beyond, number = (member, on), topology.busses, number + 2 * topology.busses
            arcs = [(out[member], busses[on], 0, 1)]
            arcs.append((busses[on] + beyond, into[member], without_gate, 1))
            # One transmission per step and bus: both sides of a bus are joined by one arc of
            # capacity one.
            arcs.append((busses, busses + beyond, 0, 1))
        # Items may wait at a node without limit.
        arcs.append((every, every, 1, NEVER))
        if model.send is not None:
            arcs.append((every, every + size, 0, model.send))
        if model.receive is not None:
            arcs.append((every + 2 * size, every, 1, model.receive))
        lengths = [len(tail) for tail, *_ in arcs]
        tail, head = (np.concatenate([arc[end] for arc in arcs]) for end in (0, 1))
        delay, capacity = (np.repeat([arc[of] for arc in arcs], lengths) for of in (2, 3))
        return cls(number, tail, head, delay, capacity, links, topology.busses)

    def moves(self, flow: Shorts) -> list[Move]:
        """Return the items' moves in a step by the flow of its arcs, without self-sends."""
        if self.busses is None:
            senders, ports, receivers = self.links
            used = np.flatnonzero(flow[: len(senders)])
            rows = np.stack([senders[used], receivers[used], ports[used]], axis=1)
            return list(starmap(Move, rows.tolist()))
        member, bus = self.links
        moved = np.full((2, self.busses), -1)
        for side, begin in enumerate((0, len(member))):
            used = np.flatnonzero(flow[begin : begin + len(member)])
            moved[side, bus[used]] = member[used]
        # A flow may leave and enter the same node over one bus. This is waiting, not a message.
        apart = np.flatnonzero(moved[0] != moved[1])
        return list(map(Move, *moved[:, apart].tolist(), apart.tolist()))

    def ways(self, distance: Ints) -> tuple[Ints, Ints]:
        """Return each place's arcs ``arcs[begin[p] : begin[p + 1]]``, those towards the root first.

        An arc a out of a place is stored as a. An arc a into a place, over which an item may be
        taken back, is stored as ~a.
        """
        ends = np.concatenate([self.tail, self.head])
        beyond = np.concatenate([distance[self.head], distance[self.tail]])
        numbers = np.arange(len(self.tail))
        back = np.repeat([0, 1], len(self.tail))
        # Arcs towards the root are tried first, which finds most paths without a detour.
        order = np.lexsort((beyond, back, ends))
        begin = np.searchsorted(ends[order], np.arange(self.number + 1))
        return begin, np.concatenate([numbers, ~numbers])[order]


def _ways_of_items(
    places: TimedPlaces, flow: ShortRows, sources: Ints
) -> dict[int, list[tuple[int, Move]]]:
    """Assign items to the flow's units: return the moves of each item, with the step before each.

    At each node the item that has waited longest leaves first. An item that would return to a node
    stays there instead.
    """
    waiting: dict[int, deque[int]] = defaultdict(deque)
    ways: dict[int, list[tuple[int, Move]]] = {}
    for source in sources.tolist():
        waiting[source].append(source)
        ways[source] = []
    for at in range(len(flow)):
        moves = places.moves(flow[at])
        # All items leave before any arrives, since an item moves one link per step.
        moved = [(move, waiting[move.sender].popleft()) for move in moves]
        for move, item in moved:
            waiting[move.receiver].append(item)
            # A flow may go round in a circle. The item then stays at the node instead, which saves
            # messages and changes no other item.
            before = [earlier.sender for _, earlier in ways[item]]
            if move.receiver in before:
                del ways[item][before.index(move.receiver) :]
            else:
                ways[item].append((at, move))
    return ways


def _links(topology: Topology) -> tuple[Ints, Ints, Ints]:
    """Return senders, ports and receivers of both directions of all links, without loops."""
    sender, port = wired(topology, np.arange(topology.size))
    receiver = topology.neighbor(sender, port)
    # A loop brings an item no nearer to the root.
    proper = sender != receiver
    return sender[proper], port[proper], receiver[proper]


@kernel
def measure(root: int, tail: Ints, head: Ints, delay: Ints, distance: Ints) -> None:
    """Write the number of steps from every place to the root."""
    # Bellman and Ford: arcs have 0 or 1 steps and few rounds suffice, so no queue is needed.
    distance[root] = 0
    changed = True
    while changed:
        changed = False
        for arc in range(tail.size):
            steps = distance[head[arc]] + delay[arc]
            if steps < distance[tail[arc]]:
                distance[tail[arc]] = steps
                changed = True


@kernel
def augment(
    root: int,
    sources: Ints,
    sent: int,
    begin: Ints,
    arcs: Ints,
    tail: Ints,
    head: Ints,
    delay: Ints,
    capacity: Ints,
    flow: ShortRows,
    seen: Shorts,
) -> int:
    """Send the items of ``sources[sent:]`` until one finds no path; return the total sent."""
    steps, number = flow.shape[0], begin.size - 1
    # Dinic without levels: a depth-first search that stores the failed arcs of each place. Each
    # place is visited once per item, so a failed item proves a cut.
    following = np.empty((steps + 1) * number, np.int64)
    came_by = np.empty((steps + 1) * number, np.int64)
    while sent < sources.size:
        start = sources[sent]
        place, at = start, 0
        seen[place], following[place] = sent, begin[place]
        while place != root:
            here = at * number + place
            if following[here] == begin[place + 1]:
                if here == start:
                    return sent
                arc = came_by[here]
                if arc >= 0:
                    place, at = tail[arc], at - delay[arc]
                else:
                    place, at = head[~arc], at + delay[~arc]
                continue
            arc = arcs[following[here]]
            following[here] += 1
            if arc >= 0:
                new, then = head[arc], at + delay[arc]
                # Nothing moves after the last step.
                if at == steps or flow[at, arc] >= capacity[arc]:
                    continue
            else:
                new, then = tail[~arc], at - delay[~arc]
                # A unit can only be taken back from an arc with flow.
                if then < 0 or then >= steps or flow[then, ~arc] == 0:
                    continue
            there = then * number + new
            if seen[there] == sent:
                continue
            seen[there], following[there], came_by[there] = sent, begin[new], arc
            place, at = new, then
        while place != start or at != 0:
            arc = came_by[at * number + place]
            if arc >= 0:
                place, at = tail[arc], at - delay[arc]
                flow[at, arc] += 1
            else:
                place, at = head[~arc], at + delay[~arc]
                flow[at - delay[~arc], ~arc] -= 1
        sent += 1
    return sent

"""Flooding from one source (eccentricity), or from many sources at once (distances, diameter)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.effort import LOOKS, require_walk
from mpinet.base.memory import require_memory
from mpinet.errors import UsageError
from mpinet.machine import Machine, local_broadcast
from mpinet.machine.beep import wired
from mpinet.machine.state import Joined, Largest, Located, Numbered, State, Total
from mpinet.machine.step import gather_claims
from mpinet.networks.topology import Topology
from mpinet.programs.waves import SOURCES, adjacency, shared_out

MANY = 64
"""Factor by which floods from all nodes may take longer than other walks."""

ROOMS, BYTES_A_PORT = 3, 4
"""Number of copies of a node's bits during a flood, and bytes per wired port."""


@dataclass(frozen=True)
class FloodOutcome:
    """Result of a flood."""

    steps: int
    """Number of steps until no new node is informed."""
    messages: int
    """Number of messages sent in these steps."""
    informed: int
    """Number of nodes reached by the flood, the root included."""
    eccentricity: int
    """Step in which the last node was informed: the eccentricity of the root."""
    farthest_host: int
    """Step in which the last processor was informed (switches do not count)."""


def flood(machine: Machine, root: int) -> FloodOutcome:
    """Flood an all-port machine from one root (collective).

    Every node informed in the previous step sends on all its ports. The flood ends when all nodes
    are informed, or no new node is. On busses, a newly informed node offers its busses that have
    not yet carried the message. The lowest-numbered node of those that offer a bus sends to all
    members. On half-duplex links, the lower-numbered of two such nodes sends.

    Parameters
    ----------
    machine : Machine
        An all-port machine.
    root : int
        The node that starts.

    Raises
    ------
    UsageError
        The machine is not all-port, or is too large.

    Examples
    --------
    >>> found = flood(Machine("ring:8"), root=0)
    >>> found.steps, found.informed, found.eccentricity
    (4, 8, 4)
    """
    _require_all_port(machine, "Flooding")
    topology = machine.topology
    topology.require_node(root)
    looks = topology.size * topology.ports
    require_walk(looks, f"A flood of {topology.name}", machine.transport.size)
    with machine.spending() as spent:
        reached, farthest_host = _flooded(machine, root)
    return FloodOutcome(
        spent.steps, spent.messages, reached, spent.steps, farthest_host - spent.begun
    )


def _flooded(machine: Machine, root: int) -> tuple[int, int]:
    """Run the flood; return the number of informed nodes, and the step of the last processor."""
    beeps = machine.topology.links and not machine.model.half_duplex
    wave = _beep_wave if beeps else _channel_wave
    state = State(
        machine,
        "flood",
        informed=Numbered(machine.nodes == root, machine.nodes),
        fresh=Located(machine.nodes[machine.nodes == root]),
        carried=Located(np.empty((0, 2), np.int64)),
        reached=1,
        farthest_host=machine.steps,
    )
    with state:
        while state.reached < machine.topology.size:
            nodes, state.carried = wave(machine, state.fresh, state.carried)
            slots = machine.slots(nodes)
            state.fresh = fresh = nodes[~state.informed[slots]]
            state.informed[slots] = True
            new, hosts = machine.sum(len(fresh), int((fresh < machine.topology.hosts).sum()))
            if new == 0:
                break
            state.reached += new
            if hosts:
                state.farthest_host = machine.steps
            state.boundary()
    return state.reached, state.farthest_host


def _beep_wave(machine: Machine, fresh: Ints, carried: Ints) -> tuple[Ints, Ints]:
    """Run one step over full-duplex links; return its receivers."""
    return machine.beep(fresh), carried


def _channel_wave(machine: Machine, fresh: Ints, carried: Ints) -> tuple[Ints, Ints]:
    """Run one step over half-duplex links or busses; return its receivers and a table.

    On busses the table lists rows (node, bus) of the received messages.
    """
    sends = _on_free_channels(machine, *wired(machine.topology, fresh), carried)
    inbox = machine.step(*sends)
    if machine.model.half_duplex:
        return _different(inbox.nodes), carried
    busses = machine.topology.channel(inbox.nodes, inbox.ports)
    return _different(inbox.nodes), np.stack([inbox.nodes, busses], axis=1)


def _on_free_channels(
    machine: Machine, nodes: Ints, ports: Ints, carried: Ints
) -> tuple[Ints, Ints]:
    """Select the sends on channels that have not carried the message, one sender per channel.

    A channel is a bus, or a half-duplex link.

    Parameters
    ----------
    carried : ndarray of int64, shape (k, 2)
        Rows (node, channel) of the arrivals in the previous step (collective).
    """
    topology = machine.topology
    count = topology.busses or topology.size * topology.ports
    channels = topology.channel(nodes, ports)
    slots = machine.slots(nodes)
    keys = slots * count + channels
    free = ~np.isin(keys, machine.slots(carried[:, 0]) * count + carried[:, 1])
    nodes, ports, channels, keys = nodes[free], ports[free], channels[free], keys[free]
    _, first = np.unique(keys, return_index=True)
    claims = gather_claims(machine, np.stack([nodes[first], channels[first]], axis=1))
    claims = claims[np.lexsort((claims[:, 0], claims[:, 1]))]
    lowest = np.ones(len(claims), bool)
    lowest[1:] = claims[1:, 1] != claims[:-1, 1]
    claims = claims[lowest]
    sends = claims[np.searchsorted(claims[:, 1], channels), 0] == nodes
    return nodes[sends], ports[sends]


def _different(ascending: Ints) -> Ints:
    """Return the distinct numbers of an ascending array."""
    first = np.ones(len(ascending), bool)
    first[1:] = ascending[1:] != ascending[:-1]
    return ascending[first]


@dataclass(frozen=True)
class Distances:
    """Distances between all nodes, measured by flooding."""

    diameter: int
    """Largest distance, in hops."""
    distance_sum: int
    """Sum over all ordered pairs, in hops."""
    average_distance: float
    """Mean over all ordered pairs of different nodes, in hops."""


def distances(machine: Machine, watch: Callable[[int], None] | None = None) -> Distances:
    """Measure all distances by flooding from all nodes, 512 sources at once (collective).

    Every node stores a bit for each source that has reached it, and sends the new bits on all
    ports. Busses count as links between all their members, because each source has its own flood.

    Parameters
    ----------
    machine : Machine
        An all-port machine. If the floods are distributed over ranks (`waves.shared_out`), each
        rank runs them on its own machine and `machine` counts nothing. Otherwise `machine` counts
        the steps of the floods, one batch of sources at a time.
    watch : callable, optional
        Called after every flood with the approximate number of finished sources.

    Raises
    ------
    UsageError
        The machine is not all-port or is too large, or the network is not connected.
    """
    _require_all_port(machine, "Flooding")
    require_floods(machine.topology, machine.transport.size)
    size = machine.topology.size
    if not machine.topology.links:
        machine = Machine(adjacency(machine.topology), "all", machine.transport, machine.mapping)
    state = State(
        machine,
        "distances",
        diameter=Largest(0),
        total=Total(0),
        reached=Total(0),
        done=Joined(np.empty(0, np.int64)),
    )
    with state:
        floods, sources = shared_out(machine, np.setdiff1d(np.arange(size), state.done))
        first = machine.transport.rank == 0
        tells = first or floods.machine is not machine
        if not first:
            state.done = state.done[:0]  # rank 0 reports the earlier results
        most = machine.max(len(sources))[0]
        for begin in range(0, most, SOURCES):
            batch = sources[begin : begin + SOURCES]
            for wave in floods.waves(batch):
                state.diameter = max(state.diameter, wave.distance)
                state.total += wave.distance * wave.bits
                state.reached += wave.bits
            if tells:
                state.done = np.concatenate([state.done, batch])
            if watch is not None and begin + SOURCES < most:
                watch(min(size, (begin + SOURCES) * size // max(1, len(sources))))
            state.meeting()
    total, reached = machine.sum(state.total, state.reached)
    diameter = machine.max(state.diameter)[0]
    if watch is not None:
        watch(size)
    if reached != size**2:
        raise UsageError(f"{machine.topology.name} is not connected: it has no diameter.")
    pairs = reached - size
    return Distances(diameter, total, total / pairs if pairs else 0.0)


def require_floods(topology: Topology, ranks: int) -> None:
    """Raise `UsageError` if floods from all nodes would take too long or exceed the memory."""
    require_end(topology, ranks)
    what = f"A flood of {topology.name} from each of its nodes"
    require_memory(floods_need(topology, ranks), what)


def require_end(topology: Topology, ranks: int) -> None:
    """Raise `UsageError` if floods from all nodes would take too long."""
    what = f"A flood of {topology.name} from each of its nodes"
    floods = -(-topology.size // SOURCES)
    require_walk(floods * topology.size * topology.ports, what, ranks, LOOKS * MANY)


def floods_need(topology: Topology, ranks: int) -> int:
    """Return the bytes of a rank's part of floods from all nodes.

    The maximum of two phases counts: the flood itself (bits of nodes, wired ports), and the earlier
    lookup of the row of every port's neighbour.
    """
    bits = min(topology.size, SOURCES) // 8
    hosted = -(-topology.size // ranks)
    rooms = ROOMS * bits + BYTES_A_PORT * topology.ports
    return hosted * max(rooms, local_broadcast.BYTES_A_PORT * topology.ports)


def _require_all_port(machine: Machine, what: str) -> None:
    if machine.model.send is not None or machine.model.receive is not None:
        raise UsageError(f"{what} needs an all-port machine; broadcast is for one-port ones.")

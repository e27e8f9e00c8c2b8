"""Flooding: one source (eccentricity), and many at once by bits (distances, diameter)."""

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
"""Factor by which the floods from all nodes may take longer than other walks."""

ROOMS, BYTES_A_PORT = 3, 4
"""Times that a flood holds a node's bits, and bytes of a wired port."""


@dataclass(frozen=True)
class FloodOutcome:
    """Result of a flood."""

    steps: int
    """Steps until no new node is informed."""
    messages: int
    """Messages sent in these steps."""
    informed: int
    """Nodes that the flood reached, the root included."""
    eccentricity: int
    """Step in which the last node was informed: the eccentricity of the root."""
    farthest_host: int
    """Step in which the last processor was informed (switches do not count)."""


def flood(machine: Machine, root: int) -> FloodOutcome:
    """Flood an all-port machine from one root (collective).

    Every node that was informed in the step before sends on all its ports; the flood ends when all
    are informed (or nobody new is). On busses it offers those that have not carried the message,
    and of the nodes that offer a bus the lowest-numbered one sends, to all members. Of two that
    offer a half-duplex link the lower-numbered one sends, too.

    Parameters
    ----------
    machine : Machine
        All-port.
    root : int
        The node that starts.

    Raises
    ------
    UsageError
        The machine is not all-port, or too large.

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
    """Flood: nodes informed, and the machine's step in which the last processor was."""
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
    """One step over links: its receivers."""
    return machine.beep(fresh), carried


def _channel_wave(machine: Machine, fresh: Ints, carried: Ints) -> tuple[Ints, Ints]:
    """One step over half-duplex links or busses: its receivers.

    Of busses also rows (node, bus) of what they received.
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
    """Select the sends on channels that have not carried the message, one sender a channel.

    A channel is a bus, or a half-duplex link.

    Parameters
    ----------
    carried : ndarray of int64, shape (k, 2)
        Rows (node, channel) of what came in the step before (collective).
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
    """The numbers of an ascending array, each once."""
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

    Every node keeps a bit for each source that has reached it and sends the new ones on all ports.
    Busses are taken for links between all their members: each source's flood is one of its own.

    Parameters
    ----------
    machine : Machine
        All-port. Its meters tell nothing of the floods: where these are shared out to ranks, each
        makes them on a machine of its own (`waves.shared_out`), and it counts none; otherwise it
        counts their steps, a batch of sources together.
    watch : callable, optional
        Called after every flood with the number of sources done, about.

    Raises
    ------
    UsageError
        The machine is not all-port or too large, or the network is not connected.
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
            state.done = state.done[:0]  # rank 0 tells what was done before
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
    """Raise `UsageError` where floods from all nodes would not end, or not fit into memory."""
    require_end(topology, ranks)
    what = f"A flood of {topology.name} from each of its nodes"
    require_memory(floods_need(topology, ranks), what)


def require_end(topology: Topology, ranks: int) -> None:
    """Raise `UsageError` where floods from all nodes would not end."""
    what = f"A flood of {topology.name} from each of its nodes"
    floods = -(-topology.size // SOURCES)
    require_walk(floods * topology.size * topology.ports, what, ranks, LOOKS * MANY)


def floods_need(topology: Topology, ranks: int) -> int:
    """Bytes of a rank's part of floods from all nodes: rooms for nodes' bits, and wired ports.

    Before there are rooms, more is held of every port while its neighbour's row is looked up.
    """
    bits = min(topology.size, SOURCES) // 8
    hosted = -(-topology.size // ranks)
    rooms = ROOMS * bits + BYTES_A_PORT * topology.ports
    return hosted * max(rooms, local_broadcast.BYTES_A_PORT * topology.ports)


def _require_all_port(machine: Machine, what: str) -> None:
    if machine.model.send is not None or machine.model.receive is not None:
        raise UsageError(f"{what} needs an all-port machine; broadcast is for one-port ones.")

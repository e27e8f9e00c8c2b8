"""Lower bounds of collectives from degree, distance and doubling (docs/papers/hdn, 8).

Each bound holds for any network and port model. An item is the content of one message. Except in
the bounds with combining, a message carries one item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine
from mpinet.machine.beep import wired
from mpinet.programs.flood import flood
from mpinet.programs.waves import adjacency, shared_out


class Bound(int):
    """A lower bound of the number of steps, with its reason.

    Examples
    --------
    >>> larger = max(Bound(3, "distance"), Bound(4, "growth"))
    >>> larger, larger.by
    (4, 'growth')
    """

    by: str
    """Reason for the bound. ``"distance"``: hops of an item; ``"growth"``: growth of the informed
    set; ``"ends"``: items to send or receive at one processor; ``"hops"``: hops of all items over
    all channels; ``"cut"`` or ``"flow"``: kind of a certificate.
    """

    def __new__(cls, steps: int, by: str) -> Bound:
        """Return a bound of `steps` steps with the reason `by`."""
        bound = super().__new__(cls, steps)
        bound.by = by
        return bound

    def __getnewargs__(self) -> tuple[int, str]:  # type: ignore[override]
        """Return the arguments for a copy."""
        return int(self), self.by


def broadcast_bound(machine: Machine, root: int, made_in: int | None = None) -> Bound:
    """Return a lower bound of the steps of a broadcast, from distances and growth.

    In a step an informed processor informs at most `send` others. The informed set grows at most by
    the factor 1 + send; with one port the set doubles (docs/papers/hdn, 8). A transmission on a bus
    may inform as many members as the sender has ports (each is another member).

    Parameters
    ----------
    machine : Machine
        Network and port model.
    root : int
        Processor that holds the message.
    made_in : int, optional
        Steps of a completed broadcast. No processor is farther away than this number of hops, so
        distances are measured only if the growth bound is smaller.
    """
    growth = Bound(growth_bound(machine.topology.hosts, fanout(machine)), "growth")
    # The run itself shows that distances are not larger, which saves a flood of a large network.
    if made_in is not None and made_in <= growth:
        return growth
    return max(growth, Bound(farthest(machine, root), "distance"))


def multicast_bound(machine: Machine, root: int, targets: Ints) -> int:
    """Return a lower bound of the steps of a multicast, from distances and growth.

    Parameters
    ----------
    machine : Machine
        Network and port model.
    root : int
        Processor that holds the message.
    targets : ndarray of int64, shape (m,)
        Processors that need the message, equal on all ranks.
    """
    others = np.setdiff1d(targets, [root])
    distance = distances_from(machine, root)
    mine = np.isin(machine.nodes, others)
    longest = machine.max(int(distance[mine].max(initial=0)))[0]
    return max(longest, growth_bound(len(others) + 1, fanout(machine)))


def gossip_bound(machine: Machine, diameter: int | None = None) -> Bound:
    """Return a lower bound of the steps of a gossip: N-1 with one port.

    Every processor has to receive N-1 items, in each step one per channel or as many as the port
    model allows. All links together have to carry N(N-1) items. Every item has to reach the
    farthest processor.

    Parameters
    ----------
    machine : Machine
        The machine.
    diameter : int, optional
        Largest distance between processors, if known. Default: measured.
    """
    hosts = machine.topology.hosts
    received = Bound(received_bound(machine, machine.model.receive), "ends")
    # One accepted item per step needs N - 1 steps, never less than the diameter of N nodes.
    if machine.model.receive == 1 and hosts == machine.topology.size:
        return received
    hops = max(hops_per_step(machine), 1)
    # On a bus one transmission delivers to many members, so channels do not limit deliveries.
    carried = -(-hosts * (hosts - 1) // hops) if machine.topology.links else 0
    if diameter is None:
        diameter = host_distances(machine).diameter
    return max(received, Bound(carried, "hops"), Bound(diameter, "distance"))


def combining_gossip_bound(machine: Machine) -> Bound:
    """Return a lower bound of the steps of a gossip whose messages hold any number of items.

    The bound is the larger of the diameter between processors and the growth bound of one item.
    """
    growth = Bound(growth_bound(machine.topology.hosts, fanout(machine)), "growth")
    return max(growth, Bound(host_distances(machine).diameter, "distance"))


def exchange_bound(
    machine: Machine, distances: HostDistances | None = None, items: int = 1
) -> Bound:
    """Return a lower bound of the steps of a total exchange.

    With one port the bound is max(N-1, ceil(sum of distances / N)). Every processor sends and
    receives N-1 items, and all hops of the items must be made.

    Parameters
    ----------
    machine : Machine
        The machine.
    distances : HostDistances, optional
        Distances of its processors, if known. Default: measured.
    items : int
        Number of items per pair.
    """
    distances = distances or host_distances(machine)
    ends = max(
        received_bound(machine, machine.model.receive), received_bound(machine, machine.model.send)
    )
    hops = -(-items * distances.total // max(hops_per_step(machine), 1))
    diameter = Bound(distances.diameter, "distance")
    return max(Bound(ends, "ends"), Bound(hops, "hops"), diameter)


def scatter_bound(machine: Machine, root: int) -> Bound:
    """Return a lower bound of the steps of a scatter: N-1 with one port.

    The root has to send N-1 items, in each step one per channel or as many as the port model
    allows. The farthest processor has to receive an item.
    """
    return _one_sided_bound(machine, root, machine.model.send)


def gather_bound(machine: Machine, root: int) -> Bound:
    """Return a lower bound of a gather's steps: `scatter_bound` with the root's receive limit."""
    return _one_sided_bound(machine, root, machine.model.receive)


def _one_sided_bound(machine: Machine, root: int, limit: int | None) -> Bound:
    """Return a lower bound of a scatter or gather.

    `limit` is the root's limit of messages per step.
    """
    own = machine.nodes[machine.nodes == root]
    degree = machine.sum(int(channels(machine, own).sum()))[0]
    served = Bound(_items_bound(machine.topology.hosts - 1, degree, limit), "ends")
    return max(served, Bound(farthest(machine, root), "distance"))


def growth_bound(processors: int, fanout: int) -> int:
    """Return the steps to inform `processors` from one, if each informs `fanout` per step."""
    informed, steps = 1, 0
    while informed < processors:
        informed *= 1 + fanout
        steps += 1
    return steps


def fanout(machine: Machine) -> int:
    """Return the maximum number of processors informed by one processor in a step."""
    ports, send = machine.topology.ports, machine.model.send
    return ports if send is None or not machine.topology.links else min(send, ports)


def received_bound(machine: Machine, limit: int | None) -> int:
    """Return the steps in which every processor can receive or send N-1 items, `limit` a step."""
    hosts = machine.nodes[machine.nodes < machine.topology.hosts]
    fewest = int(channels(machine, hosts).min(initial=machine.topology.ports))
    fewest = -machine.max(-fewest)[0]
    return _items_bound(machine.topology.hosts - 1, fewest, limit)


def _items_bound(items: int, degree: int, limit: int | None) -> int:
    """Return the steps for items over `degree` channels, at most `limit` items per step."""
    return -(-items // min(degree, limit or degree)) if items else 0


def channels(machine: Machine, nodes: Ints) -> Ints:
    """Return the number of links or busses of each of the given, distinct processors."""
    senders, ports = wired(machine.topology, nodes)
    if not machine.topology.links:
        pairs = np.stack([senders, machine.topology.channel(senders, ports)], axis=1)
        senders = np.unique(pairs, axis=0)[:, 0]
    order = np.argsort(nodes)
    places = order[np.searchsorted(nodes, senders, sorter=order)]
    return np.bincount(places, minlength=len(nodes))


def hops_per_step(machine: Machine) -> int:
    """Return the maximum number of item hops per step, limited by channels and by ports."""
    topology, model = machine.topology, machine.model
    ends = machine.sum(machine.wired_ports)[0]
    # Each link has a wired port at both ends. Full duplex carries a message from each of them.
    capacity = ends // 2 if model.half_duplex else ends
    if topology.busses is not None:
        capacity = topology.busses
    limits = [limit for limit in (model.send, model.receive) if limit is not None]
    return min([capacity, *(limit * topology.size for limit in limits)])


def farthest(machine: Machine, root: int) -> int:
    """Return the hops from `root` to the farthest processor, measured by a flood."""
    return flood(_survey(machine), root).farthest_host


def _survey(machine: Machine) -> Machine:
    """Return an all-port machine of full-duplex links for measurements, all ports linked."""
    topology = machine.topology if machine.topology.links else adjacency(machine.topology)
    return Machine(topology, "all", machine.transport, machine.mapping)


def distances_from(machine: Machine, root: int) -> Ints:
    """Return the hops from `root` to this rank's nodes by a flood, shape (hosted,); -1: none."""
    survey = _survey(machine)
    plan = survey.plan(*wired(survey.topology, survey.nodes))
    senders, receivers = survey.slots(plan.senders), survey.slots(plan.nodes)
    distance = np.where(survey.nodes == root, 0, -1)
    new = 1
    while new:
        reached = receivers[plan(distance[senders]) >= 0]
        fresh = np.unique(reached[distance[reached] < 0])
        distance[fresh] = survey.steps
        new = survey.sum(len(fresh))[0]
    return distance


@dataclass(frozen=True)
class HostDistances:
    """Distances between processors, in hops.

    Hops through switches count, but switches are not end points.
    """

    diameter: int
    """Largest distance between two processors, in hops."""
    total: int
    """Sum of the distances over all ordered pairs of processors, in hops."""


def host_distances(machine: Machine) -> HostDistances:
    """Measure all distances between processors by flooding from each, 512 at once (collective)."""
    hosts = machine.topology.hosts
    floods, sources = shared_out(_survey(machine), np.arange(hosts))
    processors = floods.machine.nodes < hosts
    diameter = total = 0
    for wave in floods.waves(sources):
        pairs = int(wave.new[processors].sum())
        total += wave.distance * pairs
        diameter = max(diameter, wave.distance if pairs else 0)
    return HostDistances(machine.max(diameter)[0], machine.sum(total)[0])

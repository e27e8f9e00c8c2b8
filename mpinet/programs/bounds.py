"""Lower bounds of collectives, from degree, distance and doubling (docs/papers/hdn, 8).

Each holds for any network and port model. An item is one message's content: bounds other than
those with combining let a message carry one item.
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
    """A number of steps that nothing beats, and what shows it.

    Examples
    --------
    >>> larger = max(Bound(3, "distance"), Bound(4, "growth"))
    >>> larger, larger.by
    (4, 'growth')
    """

    by: str
    """``"distance"`` (an item has so many hops to go), ``"growth"`` (of those that have one),
    ``"ends"`` (what a processor has to send or to accept), ``"hops"`` (those of all items, over all
    channels), or the kind of a certificate: ``"cut"``, ``"flow"``."""

    def __new__(cls, steps: int, by: str) -> Bound:
        """Make a bound of so many steps, with what shows it."""
        bound = super().__new__(cls, steps)
        bound.by = by
        return bound

    def __getnewargs__(self) -> tuple[int, str]:  # type: ignore[override]
        """Return what a copy is made of."""
        return int(self), self.by


def broadcast_bound(machine: Machine, root: int, made_in: int | None = None) -> Bound:
    """Steps that no broadcast from `root` beats: its distances, and the growth of the informed.

    In a step an informed processor informs at most `send` others, so their number grows at most by
    the factor 1 + send; with one port it doubles (docs/papers/hdn, 8). A transmission on a bus
    may inform as many as the sender has ports (each is another member).

    Parameters
    ----------
    machine : Machine
        Gives the network and the port model.
    root : int
        The processor that has the message.
    made_in : int, optional
        Steps in which the machine has brought the message to all processors. None of them is
        farther away, so that the distances are only measured where growth alone needs fewer.
    """
    growth = Bound(growth_bound(machine.topology.hosts, fanout(machine)), "growth")
    # The run itself shows that distances are not larger, and a flood of a large network is spared.
    if made_in is not None and made_in <= growth:
        return growth
    return max(growth, Bound(farthest(machine, root), "distance"))


def multicast_bound(machine: Machine, root: int, targets: Ints) -> int:
    """Steps that no multicast beats: the farthest target, and the growth of the informed.

    Parameters
    ----------
    machine : Machine
        Gives the network and the port model.
    root : int
        The processor that has the message.
    targets : ndarray of int64, shape (m,)
        Those that are to have it, the same on all ranks.
    """
    others = np.setdiff1d(targets, [root])
    distance = distances_from(machine, root)
    mine = np.isin(machine.nodes, others)
    longest = machine.max(int(distance[mine].max(initial=0)))[0]
    return max(longest, growth_bound(len(others) + 1, fanout(machine)))


def gossip_bound(machine: Machine, diameter: int | None = None) -> Bound:
    """Steps that no all-to-all broadcast beats: N-1 with one port.

    Every processor has to receive N-1 items, in a step one from each of its channels or as many as
    it may accept; links together have to carry N(N-1); and an item goes to the farthest processor.

    Parameters
    ----------
    machine : Machine
        The machine.
    diameter : int, optional
        Largest distance between processors, where it is known. Default: it is measured.
    """
    hosts = machine.topology.hosts
    received = Bound(received_bound(machine, machine.model.receive), "ends")
    # One accepted item per step needs N - 1 steps, which is never below the diameter of N nodes.
    if machine.model.receive == 1 and hosts == machine.topology.size:
        return received
    hops = max(hops_per_step(machine), 1)
    # On a bus one transmission delivers to many, so that deliveries are not counted by channels.
    carried = -(-hosts * (hosts - 1) // hops) if machine.topology.links else 0
    if diameter is None:
        diameter = host_distances(machine).diameter
    return max(received, Bound(carried, "hops"), Bound(diameter, "distance"))


def combining_gossip_bound(machine: Machine) -> Bound:
    """Steps that no all-to-all broadcast beats if a message may hold any number of items.

    The diameter between processors, and the growth of those that know one item.
    """
    growth = Bound(growth_bound(machine.topology.hosts, fanout(machine)), "growth")
    return max(growth, Bound(host_distances(machine).diameter, "distance"))


def exchange_bound(
    machine: Machine, distances: HostDistances | None = None, items: int = 1
) -> Bound:
    """Steps that no total exchange beats: max(N-1, ceil(sum of distances / N)) with one port.

    Every processor sends and receives N-1 items, and the items' hops have to be made.

    Parameters
    ----------
    machine : Machine
        The machine.
    distances : HostDistances, optional
        Those of its processors, where they are known. Default: they are measured.
    items : int
        Items of each pair.
    """
    distances = distances or host_distances(machine)
    ends = max(
        received_bound(machine, machine.model.receive), received_bound(machine, machine.model.send)
    )
    hops = -(-items * distances.total // max(hops_per_step(machine), 1))
    diameter = Bound(distances.diameter, "distance")
    return max(Bound(ends, "ends"), Bound(hops, "hops"), diameter)


def scatter_bound(machine: Machine, root: int) -> Bound:
    """Steps that no scatter from `root` beats: N-1 with one port.

    The root has to send N-1 items, in a step one on each of its channels or as many as it may; and
    the farthest processor has to get one.
    """
    return _one_sided_bound(machine, root, machine.model.send)


def gather_bound(machine: Machine, root: int) -> Bound:
    """Steps that no gather to `root` beats; as `scatter_bound`, with what the root may accept."""
    return _one_sided_bound(machine, root, machine.model.receive)


def _one_sided_bound(machine: Machine, root: int, limit: int | None) -> Bound:
    """Steps that no scatter or gather beats, with what the root may do in a step."""
    own = machine.nodes[machine.nodes == root]
    degree = machine.sum(int(channels(machine, own).sum()))[0]
    served = Bound(_items_bound(machine.topology.hosts - 1, degree, limit), "ends")
    return max(served, Bound(farthest(machine, root), "distance"))


def growth_bound(processors: int, fanout: int) -> int:
    """Steps until 1 informed processor has become `processors` if each informs `fanout` a step."""
    informed, steps = 1, 0
    while informed < processors:
        informed *= 1 + fanout
        steps += 1
    return steps


def fanout(machine: Machine) -> int:
    """Most processors that one processor informs in a step."""
    ports, send = machine.topology.ports, machine.model.send
    return ports if send is None or not machine.topology.links else min(send, ports)


def received_bound(machine: Machine, limit: int | None) -> int:
    """Steps in which every processor can receive (or send) N-1 items, `limit` in a step."""
    hosts = machine.nodes[machine.nodes < machine.topology.hosts]
    fewest = int(channels(machine, hosts).min(initial=machine.topology.ports))
    fewest = -machine.max(-fewest)[0]
    return _items_bound(machine.topology.hosts - 1, fewest, limit)


def _items_bound(items: int, degree: int, limit: int | None) -> int:
    """Steps for items over `degree` channels, at most `limit` in a step."""
    return -(-items // min(degree, limit or degree)) if items else 0


def channels(machine: Machine, nodes: Ints) -> Ints:
    """Links or busses that these processors, all different, are on; shape of the argument."""
    senders, ports = wired(machine.topology, nodes)
    if not machine.topology.links:
        pairs = np.stack([senders, machine.topology.channel(senders, ports)], axis=1)
        senders = np.unique(pairs, axis=0)[:, 0]
    order = np.argsort(nodes)
    places = order[np.searchsorted(nodes, senders, sorter=order)]
    return np.bincount(places, minlength=len(nodes))


def hops_per_step(machine: Machine) -> int:
    """Most hops of different items in a step: channels, and what all nodes together may do."""
    topology, model = machine.topology, machine.model
    ends = machine.sum(machine.wired_ports)[0]
    # Each link has a wired port at both ends. Full duplex carries a message from each of them.
    capacity = ends // 2 if model.half_duplex else ends
    if topology.busses is not None:
        capacity = topology.busses
    limits = [limit for limit in (model.send, model.receive) if limit is not None]
    return min([capacity, *(limit * topology.size for limit in limits)])


def farthest(machine: Machine, root: int) -> int:
    """Hops from `root` to the farthest processor, measured by a flood."""
    return flood(_survey(machine), root).farthest_host


def _survey(machine: Machine) -> Machine:
    """An all-port machine of full-duplex links for measurements, with a link on every port."""
    topology = machine.topology if machine.topology.links else adjacency(machine.topology)
    return Machine(topology, "all", machine.transport, machine.mapping)


def distances_from(machine: Machine, root: int) -> Ints:
    """Hops from `root` to this rank's nodes, measured by a flood, shape (hosted,); -1 for never."""
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
    """Distances between processors, in hops; switches are passed but not counted."""

    diameter: int
    """Largest distance between two processors."""
    total: int
    """Sum of the distances over all ordered pairs of processors."""


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

"""Embedding a guest network in a host: dilation, congestion, expansion.

A guest node stands at a host node, its image; a guest link is a way between images: the host's
link where they are neighbours, the route of the host's routing elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import open_part, rule
from mpinet.errors import RoutingError, UsageError
from mpinet.machine import Machine
from mpinet.machine.beep import wired
from mpinet.machine.router import Router
from mpinet.machine.state import State
from mpinet.machine.step import by_owner
from mpinet.networks.cycle import cycle_order
from mpinet.networks.routing import ARRIVED, Routing
from mpinet.networks.shortest import MAX_ENTRIES, table_routing
from mpinet.networks.topology import Topology

MOST_PLACED = 2**24
"""Most nodes of a ring that is laid along a cycle: every rank has all of their places."""


class Embedding:
    """A guest network in a host network, both of links.

    Parameters
    ----------
    guest, host : Topology
        The guest has at most as many nodes as the host has processors.
    images : array-like of int, shape (guest.size,), optional
        The host processor of every guest node, all different. Default: the canonical embedding,
        guest node x at host node x (docs/papers/gbsn, 5), which needs no table.

    Raises
    ------
    UsageError
        Busses, a guest that is too large, or images that are none.

    Examples
    --------
    >>> import mpinet
    >>> cube, ring = mpinet.open("hypercube:2"), mpinet.open("ring:4")
    >>> Embedding(cube, ring, [0, 1, 3, 2]).images_of(np.array([2, 3]))
    array([3, 2])
    """

    def __init__(self, guest: Topology, host: Topology, images: object = None):
        for network in (guest, host):
            if not network.links:
                raise UsageError(
                    f"{network.name} has busses: guest and host of an embedding have links."
                )
        if guest.size > host.hosts:
            raise UsageError(
                f"The guest {guest.name} has {guest.size} nodes and does not fit into the host "
                f"{host.name} of {host.hosts} processors."
            )
        self.guest, self.host = guest, host
        self._images = None if images is None else _checked_images(guest, host, images)
        if self._images is not None:
            self._by_image = np.argsort(self._images)

    def images_of(self, guests: Ints) -> Ints:
        """The host processors of these guest nodes, shape of the argument."""
        return guests if self._images is None else self._images[guests]

    def guests_at(self, nodes: Ints) -> Ints:
        """The guest nodes at these host nodes, shape of the argument; -1 where there is none."""
        if self._images is None:
            return np.where(nodes < self.guest.size, nodes, -1)
        ascending = self._images[self._by_image]
        place = np.minimum(np.searchsorted(ascending, nodes), len(ascending) - 1)
        return np.where(ascending[place] == nodes, self._by_image[place], -1)

    def guests_here(self, machine: Machine) -> Ints:
        """The guest nodes whose images this rank hosts, ascending."""
        guests = self.guests_at(machine.nodes)
        return np.sort(guests[guests >= 0])


def ring_images(guest: Topology, host: Topology) -> Ints | None:
    """Return a ring's places in a host of as many processors: along the host's Hamiltonian cycle.

    Returns
    -------
    ndarray of int64, shape (guest.size,) or None
        The host processor of every guest node: of two that are linked, two that are linked. None
        where the guest is no ring, or no cycle of the host's is known.
    """
    rings = guest.family == "ring" and guest.size == host.size == host.hosts
    if not rings or not host.links or host.size > MOST_PLACED:
        return None
    cycle = host.cycle()
    return None if cycle is None else cycle_order(host, cycle)


def _checked_images(guest: Topology, host: Topology, images: object) -> Ints:
    """The images as an array, if they can be."""
    given = np.asarray(images)
    whole = given.shape == (guest.size,) and np.issubdtype(given.dtype, np.integer)
    inside = whole and given.min() >= 0 and given.max() < host.hosts
    if not inside or len(np.unique(given)) != guest.size:
        raise UsageError(
            f"An embedding of {guest.name} in {host.name} needs {guest.size} different host "
            f"processors, numbers 0..{host.hosts - 1}."
        )
    return given.astype(np.int64)


@dataclass(frozen=True)
class Measures:
    """Measures of an embedding: what it costs."""

    dilation: int | None
    """Largest host distance of the images of two guest neighbours, in hops. None where the routing
    is not a shortest one and the host too large for a table of distances."""
    route_length: int
    """Hops of the longest way that stands for a guest link."""
    congestion: int
    """Largest number of guest links whose ways take one host link."""
    expansion: float
    """Host nodes per guest node."""


def measure(machine: Machine, embedding: Embedding, routing: Routing | None = None) -> Measures:
    """Measure an embedding by sending a message over every guest link (collective).

    Each undirected guest link counts once, from the lower- to the higher-numbered image; several
    guest links between two nodes are one, and so are several host links (docs/papers/gbsn, 5).

    Parameters
    ----------
    machine : Machine
        Of the host; gives ranks and mapping. Its own steps are not touched.
    embedding : Embedding
        What is measured.
    routing : Routing, optional
        The host's. Default: its first.
    """
    host = host_of(machine, embedding)
    routing = routing or host.routing()
    measuring = Machine(host, "all", machine.transport, machine.mapping, loads=True)
    with State(measuring, "measures") as state:
        longest = state.once(
            "longest",
            lambda: _longest_way(measuring, embedding, preferring_links(host, routing)),
        )
        congestion = state.once("congestion", lambda: _busiest_link(measuring))
        dilation: int | None = longest
        if not routing.shortest:
            nearest = _shortest_routing(host)
            dilation = None if nearest is None else _longest_way(measuring, embedding, nearest)
    return Measures(dilation, longest, congestion, host.size / embedding.guest.size)


def host_of(machine: Machine, embedding: Embedding) -> Topology:
    """The host, which must be the machine's network."""
    if machine.topology is not embedding.host:
        raise UsageError(
            f"The machine is a {machine.topology.name}: an embedding runs on a machine of its "
            f"host, {embedding.host.name}."
        )
    return embedding.host


def guest_links(guest: Topology, nodes: Ints) -> tuple[Ints, Ints, Ints]:
    """The links of some guest nodes: nodes, ports, neighbours; each neighbour on one port."""
    nodes, ports = wired(guest, nodes)
    others = guest.neighbor(nodes, ports)
    pairs = np.stack([nodes, others], axis=1)
    _, first = np.unique(pairs, axis=0, return_index=True)
    first = np.sort(first[nodes[first] != others[first]])
    return nodes[first], ports[first], others[first]


def _longest_way(machine: Machine, embedding: Embedding, routing: Routing) -> int:
    """Hops of the longest way of a message over each guest link, sent upwards (collective)."""
    guest = embedding.guest
    nodes, ports, others = guest_links(guest, embedding.guests_here(machine))
    sources, targets = embedding.images_of(nodes), embedding.images_of(others)
    up = sources < targets
    router = Router(machine, routing, mode="ideal")
    numbers = nodes[up] * guest.ports + ports[up]
    router.inject(sources[up], targets[up], numbers, guest.size * guest.ports)
    router.run()
    require_delivered(router)
    return router.totals["hops_max"]


def require_delivered(router: Router) -> None:
    """Raise `RoutingError` if a message did not arrive (collective)."""
    lost = router.totals["undeliverable"]
    if lost:
        raise RoutingError(
            f"Routing {router.routing.name} on {router.machine.topology.name} could not deliver "
            f"{lost} messages of guest neighbours."
        )


def _busiest_link(machine: Machine) -> int:
    """Messages over the host link that carried most, both directions together (collective)."""
    used = np.flatnonzero(machine.meters.loads)
    slots, ports = np.divmod(used, machine.topology.ports)
    ends = machine.nodes[slots], machine.topology.neighbor(machine.nodes[slots], ports)
    carried = machine.meters.loads[used].astype(np.int64)
    records = np.stack([np.minimum(*ends), np.maximum(*ends), carried], axis=1)
    leaving, counts = by_owner(machine, np.ascontiguousarray(records[:, 0]))
    received = machine.transport.exchange(records[leaving], counts).records
    records = np.concatenate([np.delete(records, leaving, axis=0), received])
    _, place = np.unique(records[:, :2], axis=0, return_inverse=True)
    loads = np.zeros(len(records), np.int64)
    np.add.at(loads, place.ravel(), records[:, 2])
    return machine.max(int(loads.max(initial=0)))[0]


def _shortest_routing(host: Topology) -> Routing | None:
    """A routing on shortest paths; None where the host has none and is too large for a table."""
    if "shortest" in host.routings:
        routing = host.routing("shortest")
        if routing.shortest:
            return routing
    return table_routing(host) if host.size**2 <= MAX_ENTRIES else None


WIRING_AT, FIRST_AT = 0, 1
"""Places, in the parameters of a routing that prefers links, of the topology's wiring and of the
routing that it follows elsewhere.
"""

ROUTED, ARRIVING = -1, -2
"""First word of its header, if it is no port: routed, or at the next node there."""


def preferring_links(host: Topology, routing: Routing) -> Routing:
    """The routing, but between neighbours the link itself: what stands for a guest link.

    A routing on shortest paths does so already.
    """
    if routing.shortest:
        return routing
    wiring = host.neighbor.rule
    place = np.array([FIRST_AT + len(routing.params)], np.int64)
    return replace(
        routing,
        start=start_by_link.bind("embed.start", wired_to=wiring, routed_start=routing.start),
        decide=decide_by_link.bind("embed.decide", routed_decide=routing.decide),
        params=np.concatenate([place, routing.params, host.params]),
        words=routing.words + 1,
        stateless=False,
        repaired=None,
    )


# The host's wiring and the rules of the routing that is followed elsewhere: `bind` gives them.
wired_to = routed_start = routed_decide = open_part


@rule
def start_by_link(source, target, header, params):
    """The lowest port that leads to the target, or ROUTED; then the routing's own header."""
    place = params[WIRING_AT]
    wiring = params[place:]
    header[0] = ROUTED
    for port in range(wiring[1]):
        if wired_to(source, port, wiring) == target:
            header[0] = port
            break
    routed_start(source, target, header[1:], params[FIRST_AT:place])


@rule
def decide_by_link(node, header, params):
    """Take the link once if there is one, else ask the routing."""
    if header[0] == ROUTED:
        return routed_decide(node, header[1:], params[FIRST_AT : params[WIRING_AT]])
    if header[0] == ARRIVING:
        return ARRIVED
    port = header[0]
    header[0] = ARRIVING
    return port

"""Embedding of a guest network in a host: dilation, congestion, expansion.

The image of a guest node is a host node. A guest link is mapped to a path between images: the
host's link if the images are neighbours, otherwise the route of the host's routing.
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
"""Maximum number of nodes of a ring mapped along a cycle: every rank stores all of their images."""


class Embedding:
    """A guest network in a host network, both of links.

    Parameters
    ----------
    guest, host : Topology
        The guest has at most as many nodes as the host has processors.
    images : array-like of int, shape (guest.size,), optional
        Host processor of every guest node, all different. Default: the canonical embedding, guest
        node x at host node x (docs/papers/gbsn, 5), which needs no table.

    Raises
    ------
    UsageError
        A network has busses, the guest is too large, or the images are invalid.

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
        """Return the host processors of these guest nodes, in the shape of the argument."""
        return guests if self._images is None else self._images[guests]

    def guests_at(self, nodes: Ints) -> Ints:
        """Return the guest nodes at these host nodes, in the shape of the argument; -1 for none."""
        if self._images is None:
            return np.where(nodes < self.guest.size, nodes, -1)
        ascending = self._images[self._by_image]
        place = np.minimum(np.searchsorted(ascending, nodes), len(ascending) - 1)
        return np.where(ascending[place] == nodes, self._by_image[place], -1)

    def guests_here(self, machine: Machine) -> Ints:
        """Return the guest nodes with images on this rank, ascending."""
        guests = self.guests_at(machine.nodes)
        return np.sort(guests[guests >= 0])


def ring_images(guest: Topology, host: Topology) -> Ints | None:
    """Return a ring's images along the Hamiltonian cycle of a host of equal size.

    Returns
    -------
    ndarray of int64, shape (guest.size,) or None
        Host processor of every guest node; linked guest nodes have linked images. None if the guest
        is not a ring, or if no cycle of the host is known.
    """
    rings = guest.family == "ring" and guest.size == host.size == host.hosts
    if not rings or not host.links or host.size > MOST_PLACED:
        return None
    cycle = host.cycle()
    return None if cycle is None else cycle_order(host, cycle)


def _checked_images(guest: Topology, host: Topology, images: object) -> Ints:
    """Return the images as an array, after checking them."""
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
    """Measures of the cost of an embedding."""

    dilation: int | None
    """Largest host distance between the images of two guest neighbours, in hops. None if the
    routing does not use shortest paths and the host is too large for a table of distances.
    """
    route_length: int
    """Number of hops of the longest path for a guest link."""
    congestion: int
    """Largest number of guest links whose paths use the same host link."""
    expansion: float
    """Number of host nodes per guest node."""


def measure(machine: Machine, embedding: Embedding, routing: Routing | None = None) -> Measures:
    """Measure an embedding by sending a message over every guest link (collective).

    Each undirected guest link counts once, from the lower- to the higher-numbered image. Parallel
    guest links count as one link, and so do parallel host links (docs/papers/gbsn, 5).

    Parameters
    ----------
    machine : Machine
        Machine of the host, for its ranks and mapping. Its own steps are not changed.
    embedding : Embedding
        Embedding to measure.
    routing : Routing, optional
        Routing of the host. Default: its first.
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
    """Return the host, after checking that the host is the machine's network."""
    if machine.topology is not embedding.host:
        raise UsageError(
            f"The machine is a {machine.topology.name}: an embedding runs on a machine of its "
            f"host, {embedding.host.name}."
        )
    return embedding.host


def guest_links(guest: Topology, nodes: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the links of guest nodes: nodes, ports, neighbours; each neighbour on one port."""
    nodes, ports = wired(guest, nodes)
    others = guest.neighbor(nodes, ports)
    pairs = np.stack([nodes, others], axis=1)
    _, first = np.unique(pairs, axis=0, return_index=True)
    first = np.sort(first[nodes[first] != others[first]])
    return nodes[first], ports[first], others[first]


def _longest_way(machine: Machine, embedding: Embedding, routing: Routing) -> int:
    """Return the hops of the longest path of a message over each guest link (collective).

    Messages go from the lower- to the higher-numbered image.
    """
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
    """Return the messages over the busiest host link, both directions together (collective)."""
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
    """Return a routing on shortest paths, by a table if needed; None if the host is too large."""
    if "shortest" in host.routings:
        routing = host.routing("shortest")
        if routing.shortest:
            return routing
    return table_routing(host) if host.size**2 <= MAX_ENTRIES else None


WIRING_AT, FIRST_AT = 0, 1
"""Indices into the parameters of a link-preferring routing: wiring, and parameters of its base
routing.
"""

ROUTED, ARRIVING = -1, -2
"""Values of the header's first word other than ports: routed, or arriving at the next node."""


def preferring_links(host: Topology, routing: Routing) -> Routing:
    """Return the routing, with the direct link between neighbours, for the paths of guest links.

    A routing on shortest paths already does so.
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


# The host's wiring and the rules of the base routing; `bind` sets them.
wired_to = routed_start = routed_decide = open_part


@rule
def start_by_link(source, target, header, params):
    """Write the lowest port to the target, or ROUTED; then the base routing's header."""
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
    """Take the direct link once if there is one, otherwise ask the base routing."""
    if header[0] == ROUTED:
        return routed_decide(node, header[1:], params[FIRST_AT : params[WIRING_AT]])
    if header[0] == ARRIVING:
        return ARRIVED
    port = header[0]
    header[0] = ARRIVING
    return port

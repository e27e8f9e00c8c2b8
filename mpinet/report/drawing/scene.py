"""Contents of a picture of a network, before it is drawn: places, links, busses, routes, loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Ints
from mpinet.base.choices import Label
from mpinet.errors import UsageError
from mpinet.measure.load import Loads, loads
from mpinet.measure.wiring import edges, incidences
from mpinet.networks.catalogue import open_topology
from mpinet.networks.routing import Routing, path
from mpinet.networks.topology import NetworkLike, Topology
from mpinet.programs.traffic import traffic
from mpinet.report.layout import layout, require_drawable
from mpinet.report.lines import bends, kinds_of_links, stubs
from mpinet.report.shapes import Points, nearest

MOST_LINKS = 100_000
"""Most links, or processors on busses, of a picture."""

MOST_ROUTES = 200
"""Most routes of a picture."""


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture, before it is drawn."""

    name: str
    """The network's topology string."""
    points: Points
    """Places of the nodes, and behind them of the busses, if there are any. Shape (N, 2)."""
    hosts: int
    """Number of processors; the first points are processors."""
    nodes: int
    """Number of processors and switches; switches follow the processors, then come busses."""
    links: Ints
    """Lines: links, or a processor and a bus it is on. Shape (L, 2)."""
    bends: Floats
    """Curvature of each link, see `mpinet.report.lines.bends`. Shape (L,)."""
    stubs: Points
    """Ends of links that are drawn as two stubs, see `mpinet.report.lines.stubs`. Shape (L, 2)."""
    kinds: Ints
    """Kind of each link, see `mpinet.report.lines.kinds_of_links`. Shape (L,)."""
    loads: Ints | None = None
    """Messages over each link: the more loaded direction; over each bus. Shape (L,)."""
    routes: list[list[int]] = field(default_factory=list)
    """Points that each route passes, in order."""
    labels: list[str] = field(default_factory=list)
    """Labels of the nodes; empty if none are shown."""
    addresses: list[str] = field(default_factory=list)
    """Addresses of the nodes."""

    @property
    def busses(self) -> int:
        """Number of busses in the picture."""
        return len(self.points) - self.nodes

    @property
    def aside(self) -> float:
        """Reach of links beyond the nodes at most, in units of the picture."""
        return max(float(self.bends.max(initial=0)), float(np.abs(self.stubs).max(initial=0)))

    def way(self, u: int, v: int) -> tuple[float, Points]:
        """Swerve of the link to the left on the way from u to v, and its stub at u (or zeros)."""
        # A link is stored once, and its swerve is to the left: on the way back it is on the right.
        for sign, ends in ((1, (u, v)), (-1, (v, u))):
            for at in np.flatnonzero((self.links == ends).all(axis=1)):
                return sign * float(self.bends[at]), sign * self.stubs[at]
        return 0.0, np.zeros(2)


def pulled(ends: Points, bends: Floats) -> Points:
    """Control points of swerving links: shape (L, 2), from ends of shape (L, 2, 2)."""
    way = ends[:, 1] - ends[:, 0]
    aside = np.stack([-way[:, 1], way[:, 0]], axis=1)
    aside /= np.maximum(np.hypot(*aside.T), 1e-12)[:, np.newaxis]
    control: Points = ends.mean(axis=1) + 2 * bends[:, np.newaxis] * aside
    return control


def scene(
    topology: NetworkLike,
    *,
    paths: Sequence[tuple[int, int]] = (),
    routes: str | None = None,
    load: str | None = None,
    routing: str | None = None,
    label: str = "none",
    seed: int = 0,
) -> Scene:
    """Compose a picture (collective: the machine meters the loads).

    Parameters
    ----------
    topology : Topology or str
        The network.
    paths : sequence of (int, int)
        Sources and targets of routes to show.
    routes, load : str, optional
        Traffic patterns whose routes to show, and under which to colour the links.
    routing : str, optional
        The routing of the routes. Default: the network's first.
    label : str
        What stands at the nodes: none, number or address.
    seed : int
        For whatever is drawn at random.

    Raises
    ------
    UsageError
        There is too much to show.
    """
    network = open_topology(topology)
    # Refused before the layout, which takes the longest of all parts of a picture.
    require_scene(network, routes, label, seed)
    points, lines, aside, ring_ends, kinds = _wiring(network)
    found: Loads | None = None
    if load is not None:
        found = loads(network, _routing(network, routing, seed), load, seed)
    ends = [*paths, *_ends(network, routes, seed)]
    way = _routing(network, routing, seed) if ends else None
    addresses = [network.address(node) for node in range(network.size)]
    labels = {"none": [], "address": addresses, "number": list(map(str, range(network.size)))}
    return Scene(
        name=network.name,
        points=points,
        hosts=network.hosts,
        nodes=network.size,
        links=lines,
        bends=aside,
        stubs=ring_ends,
        kinds=kinds,
        loads=_line_loads(network, lines, found) if found else None,
        routes=[_stops(network, way, *pair) for pair in ends if way],
        labels=labels[label],
        addresses=addresses,
    )


def require_scene(network: Topology, routes: str | None, label: str, seed: int = 0) -> None:
    """Raise `UsageError` if a picture would show too much, before anything is laid out."""
    require_drawable(network)
    if network.size * network.ports > 20 * MOST_LINKS:
        raise UsageError(
            f"{network.name} has {network.size:,} nodes of {network.ports:,} ports: a picture "
            f"shows {MOST_LINKS:,} links at most."
        )
    if label not in get_args(Label):
        raise UsageError(f"Labels are {', '.join(get_args(Label))}, not {label!r}.")
    total = traffic(network, routes, seed).total if routes is not None else 0
    if total > MOST_ROUTES:
        raise UsageError(
            f"The pattern {routes} has {total:,} routes on {network.name}: a picture shows "
            f"{MOST_ROUTES} at most; loads show what more come to."
        )


def _wiring(network: Topology) -> tuple[Points, Ints, Floats, Points, Ints]:
    """Places, lines, their swerves, their stubs, and their kinds."""
    points = layout(network)
    if network.links:
        lines = edges(network)
        if len(lines) > MOST_LINKS:
            raise UsageError(
                f"{network.name} has {len(lines):,} links: a picture shows {MOST_LINKS:,} at most."
            )
        ring_ends = stubs(network, points, lines)
        whole = ~ring_ends.any(axis=1)
        aside = np.zeros(len(lines))
        aside[whole] = bends(points, lines[whole])
        return points, lines, aside, ring_ends, kinds_of_links(network, lines)
    pairs = incidences(network)
    lines = np.stack([pairs[:, 0], network.size + pairs[:, 1]], axis=1)
    plain = np.zeros((len(lines), 2))
    kinds = np.zeros(len(lines), np.int64)
    return np.concatenate([points, _bus_places(points, pairs)]), lines, plain[:, 0], plain, kinds


def _bus_places(points: Points, pairs: Ints) -> Points:
    """Middles of the busses' members; busses with equal members stand side by side."""
    busses = int(pairs[:, 1].max()) + 1
    counts = np.bincount(pairs[:, 1], minlength=busses)[:, np.newaxis]
    middles = np.zeros((busses, 2))
    np.add.at(middles, pairs[:, 1], points[pairs[:, 0]])
    middles /= np.maximum(counts, 1)
    room = 0.35 * nearest(points)
    taken: dict[tuple[float, float], int] = {}
    for bus, middle in enumerate(np.round(middles, 6).tolist()):
        before = taken.get(tuple(middle), 0)
        taken[tuple(middle)] = before + 1
        # About the golden angle: dots of any number of equal busses come to lie apart.
        turn = 2.4 * before
        middles[bus] += room * np.sqrt(before) * np.array([np.cos(turn), np.sin(turn)])
    return middles


def _routing(network: Topology, name: str | None, seed: int) -> Routing:
    return network.routing(name, seed)


def _ends(network: Topology, routes: str | None, seed: int) -> list[tuple[int, int]]:
    """Sources and targets of a pattern."""
    if routes is None:
        return []
    pattern = traffic(network, routes, seed)
    sources, targets = pattern.ends(np.arange(pattern.total))
    pairs = zip(sources.tolist(), targets.tolist(), strict=True)
    return [(source, target) for source, target in pairs if source != target]


def _stops(network: Topology, routing: Routing, source: int, target: int) -> list[int]:
    """Points of a route: its nodes, and the busses between them."""
    nodes, ports = path(network, routing, source, target)
    if network.links:
        return nodes
    stops = [nodes[0]]
    for node, port, following in zip(nodes, ports, nodes[1:], strict=False):
        stops += [network.size + int(network.channel(node, port)), following]
    return stops


def _line_loads(network: Topology, lines: Ints, found: Loads) -> Ints:
    """Loads of the lines: a link's more loaded direction, or a line's bus."""
    if not network.links:
        by_bus: Ints = found.channels[lines[:, 1] - network.size]
        return by_bus
    nodes, ports = found.ports.T
    others = network.neighbor(nodes, ports)
    number = np.minimum(nodes, others) * network.size + np.maximum(nodes, others)
    known, at = np.unique(number, return_inverse=True)
    most = np.zeros(len(known), np.int64)
    np.maximum.at(most, at.ravel(), found.channels)
    wanted = lines[:, 0] * network.size + lines[:, 1]
    on_links: Ints = most[np.searchsorted(known, wanted)]
    return on_links


def with_moves(shown: Scene, network: Topology, moves: Mapping[str, Ints]) -> Scene:
    """Colour a picture's links by a recording's movements.

    Parameters
    ----------
    shown : Scene
        The network's picture.
    network : Topology
        The network.
    moves : mapping of str to ndarray of int64
        The columns ``sender`` and ``port`` of a recording.
    """
    nodes, ports = (axis.ravel() for axis in np.indices((network.size, network.ports)))
    count = np.bincount(moves["sender"] * network.ports + moves["port"], minlength=len(nodes))
    wired = network.neighbor(nodes, ports) >= 0
    nodes, ports, count = nodes[wired], ports[wired], count[wired]
    if network.links:
        channels, ends = count, np.stack([nodes, ports], axis=1)
    else:
        channels, ends = np.zeros(shown.busses, np.int64), np.empty((0, 2), np.int64)
        np.add.at(channels, network.channel(nodes, ports), count)
    found = Loads(int(count.sum()), int(count.sum()), np.zeros(0, np.int64), channels, ends)
    return replace(shown, loads=_line_loads(network, shown.links, found))


def summary(shown: Scene) -> dict[str, Any]:
    """Numbers that summarize a picture."""
    described: dict[str, Any] = {
        "nodes": shown.nodes,
        "links": 0 if shown.busses else len(shown.links),
        "busses": shown.busses,
        "routes": [[stop for stop in route if stop < shown.nodes] for route in shown.routes],
    }
    if shown.loads is not None:
        described["load"] = {"max": int(shown.loads.max(initial=0))}
    return described

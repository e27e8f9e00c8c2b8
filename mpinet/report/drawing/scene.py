"""Contents of a network's picture before drawing: positions, links, busses, routes and loads."""

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
"""Largest number of links, or of connections between processors and busses, in a picture."""

MOST_ROUTES = 200
"""Largest number of routes in a picture."""


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scene:
    """Contents of a picture before drawing."""

    name: str
    """Topology string of the network."""
    points: Points
    """Positions of the nodes, followed by the positions of the busses. Shape (N, 2)."""
    hosts: int
    """Number of processors; the first points are processors."""
    nodes: int
    """Number of processors and switches; the points are ordered: processors, switches, busses."""
    links: Ints
    """Two ends of each line: a link, or a processor and its bus. Shape (L, 2)."""
    bends: Floats
    """Curvature of each link, see `mpinet.report.lines.bends`. Shape (L,)."""
    stubs: Points
    """Ends of links that are drawn as two stubs, see `mpinet.report.lines.stubs`. Shape (L, 2)."""
    kinds: Ints
    """Kind of each link, see `mpinet.report.lines.kinds_of_links`. Shape (L,)."""
    loads: Ints | None = None
    """Number of messages over each link in its more loaded direction, or over its bus. Shape
    (L,).
    """
    steps: Ints | None = None
    """Step in which each link is used first; after the last step for an unused link. Shape (L,)."""
    informed: Ints | None = None
    """Step in which each node receives first; 0 for the node that begins. Shape (nodes,)."""
    last: int = 0
    """Last step of the run; a node that receives nothing has a later one."""
    routes: list[list[int]] = field(default_factory=list)
    """Points of each route, in order."""
    labels: list[str] = field(default_factory=list)
    """Labels of the nodes; empty if no labels are shown."""
    addresses: list[str] = field(default_factory=list)
    """Addresses of the nodes."""

    @property
    def busses(self) -> int:
        """Number of busses in the picture."""
        return len(self.points) - self.nodes

    @property
    def aside(self) -> float:
        """Largest distance that curved links reach beyond the nodes, in units of the picture."""
        return max(float(self.bends.max(initial=0)), float(np.abs(self.stubs).max(initial=0)))

    def way(self, u: int, v: int) -> tuple[float, Points]:
        """Return the curvature to the left of the link from u to v, and the link's stub at u."""
        # A link is stored once, with the curvature to the left. In the opposite direction the same
        # curve is on the right.
        for sign, ends in ((1, (u, v)), (-1, (v, u))):
            for at in np.flatnonzero((self.links == ends).all(axis=1)):
                return sign * float(self.bends[at]), sign * self.stubs[at]
        return 0.0, np.zeros(2)


def pulled(ends: Points, bends: Floats) -> Points:
    """Return control points of curved links: shape (L, 2), from ends of shape (L, 2, 2)."""
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
    """Compose a picture (collective: the machine measures the loads).

    Parameters
    ----------
    topology : Topology or str
        The network.
    paths : sequence of (int, int)
        Sources and targets of the routes to show.
    routes, load : str, optional
        Traffic patterns: `routes` are shown as routes, `load` colours the links by load.
    routing : str, optional
        Routing of the routes. Default: the network's first routing.
    label : str
        Labels of the nodes: none, number or address.
    seed : int
        Seed of random patterns and routings.

    Raises
    ------
    UsageError
        The picture would have too many links or routes.
    """
    network = open_topology(topology)
    # Checked before the layout, which is the slowest part of a picture.
    require_scene(network, routes, label, seed)
    points, lines, aside, ring_ends, kinds = _wiring(network)
    found: Loads | None = None
    if load is not None:
        found = loads(network, network.routing(routing, seed), load, seed)
    ends = [*paths, *_ends(network, routes, seed)]
    way = network.routing(routing, seed) if ends else None
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
    """Raise `UsageError` if a picture would have too many nodes, links or routes."""
    require_drawable(network)
    if network.size * network.ports > 20 * MOST_LINKS:
        raise UsageError(
            f"{network.name} has {network.size:,} nodes of {network.ports:,} ports: a picture "
            f"shows at most {MOST_LINKS:,} links."
        )
    if label not in get_args(Label):
        raise UsageError(f"Labels are {', '.join(get_args(Label))}, not {label!r}.")
    total = traffic(network, routes, seed).total if routes is not None else 0
    if total > MOST_ROUTES:
        raise UsageError(
            f"The pattern {routes} has {total:,} routes on {network.name}: a picture shows "
            f"at most {MOST_ROUTES}. Use --loads for patterns with more routes."
        )


def _wiring(network: Topology) -> tuple[Points, Ints, Floats, Points, Ints]:
    """Return positions, lines, and the curvatures, stubs and kinds of the lines."""
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
    """Return the centre of each bus's members; equal centres are spread out."""
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
        # The turn is about the golden angle, which separates the dots of any number of equal
        # busses.
        turn = 2.4 * before
        middles[bus] += room * np.sqrt(before) * np.array([np.cos(turn), np.sin(turn)])
    return middles


def _ends(network: Topology, routes: str | None, seed: int) -> list[tuple[int, int]]:
    """Return the sources and targets of a pattern as pairs."""
    if routes is None:
        return []
    pattern = traffic(network, routes, seed)
    sources, targets = pattern.ends(np.arange(pattern.total))
    pairs = zip(sources.tolist(), targets.tolist(), strict=True)
    return [(source, target) for source, target in pairs if source != target]


def _stops(network: Topology, routing: Routing, source: int, target: int) -> list[int]:
    """Return the points of a route: its nodes and the busses between them."""
    nodes, ports = path(network, routing, source, target)
    if network.links:
        return nodes
    stops = [nodes[0]]
    for node, port, following in zip(nodes, ports, nodes[1:], strict=False):
        stops += [network.size + int(network.channel(node, port)), following]
    return stops


def _line_loads(network: Topology, lines: Ints, found: Loads) -> Ints:
    """Return the load of each line: of the link's more loaded direction, or of the bus."""
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


def with_moves(
    shown: Scene, network: Topology, moves: Mapping[str, Ints], informed: Ints | None = None
) -> Scene:
    """Return a picture whose links are coloured by the movements of a recording.

    Parameters
    ----------
    shown : Scene
        Picture of the network.
    network : Topology
        The network.
    moves : mapping of str to ndarray of int64
        Columns ``sender``, ``receiver``, ``port`` and ``step`` of the recording.
    informed : ndarray of int64, optional
        Step in which each node receives first: links and nodes are coloured by steps, not by loads.
    """
    once = np.ones(len(moves["step"]), np.int64)
    shown = replace(shown, loads=_by_line(shown, network, moves, once, np.add))
    if informed is None:
        return shown
    never = int(moves["step"].max(initial=1)) + 1
    first = never - _by_line(shown, network, moves, never - moves["step"], np.maximum)
    return replace(shown, steps=first, informed=informed, last=never - 1)


def _by_line(
    shown: Scene, network: Topology, moves: Mapping[str, Ints], each: Ints, joined: np.ufunc
) -> Ints:
    """Return the largest value of each line's directions; `joined` combines values of movements."""
    if not network.links:
        values = np.zeros(shown.busses, np.int64)
        joined.at(values, network.channel(moves["sender"], moves["port"]), each)
        return values[shown.links[:, 1] - network.size]
    ends = np.sort([moves["sender"], moves["receiver"]], axis=0)
    number = np.array([network.size, 1])
    line = np.searchsorted(shown.links @ number, number @ ends)  # links are in ascending order
    values = np.zeros((2, len(shown.links)), np.int64)  # by direction
    joined.at(values, ((moves["sender"] > moves["receiver"]).astype(np.int64), line), each)
    most: Ints = values.max(axis=0)
    return most


def summary(shown: Scene) -> dict[str, Any]:
    """Return the counts of a picture: nodes, links, routes and loads."""
    described: dict[str, Any] = {
        "nodes": shown.nodes,
        "links": 0 if shown.busses else len(shown.links),
        "busses": shown.busses,
        "routes": [[stop for stop in route if stop < shown.nodes] for route in shown.routes],
    }
    if shown.loads is not None:
        described["load"] = {"max": int(shown.loads.max(initial=0))}
    return described

"""SimGrid's platforms (XML): zones of hosts and routers, links, and routes."""

from __future__ import annotations

import re
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from mpinet.base.markup import Element, parse_xml
from mpinet.base.numerals import quoted
from mpinet.networks.graphfiles.laying import End, Laying
from mpinet.networks.graphfiles.simgridclusters import BACKBONES, FATPIPES, add_cluster, hosts_of
from mpinet.networks.graphfiles.wiring import Wiring

if TYPE_CHECKING:
    import networkx

ROUTED = ("full", "floyd", "dijkstra", "dijkstracache", "none")
"""Kinds of zones whose routes determine the ends of links."""

ROUTES = {
    "route": ("src", "dst"),
    "zoneRoute": ("gw_src", "gw_dst"),
    "ASroute": ("gw_src", "gw_dst"),
}
"""Elements that are routes, with the names of their attributes for the two ends."""

APART = ("prop", "config", "actor", "process", "disk", "trace", "trace_connect")
"""Elements without information on the wiring."""

PROFILES = ("bandwidth_file", "latency_file", "state_file")
"""Attributes by which a link changes over time."""

SHARED = ("SHARED", "SPLITDUPLEX", "FULLDUPLEX")
"""Sharing policies of links that carry one message a step each way, or one in all."""

QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?)\s*([A-Za-z]*)")
SEVERAL = "sharing of links by several pairs of ends (each pair has a link of its own)"
ONE_WAY = "direction of links (they lead both ways)"
LONGER = "routes longer than the shortest path, which messages take"
IF_LISTED = " (--routing routes uses the routes of the file)"

MOST_FOLLOWED = 1 << 22
"""Most pairs of a host and a node whose distances are compared with the lengths of routes."""

POWERS = {letter: 1000**at for at, letter in enumerate(["", "k", "M", "G", "T", "P", "E"])}
BINARY = {f"{letter}i": 1024**at for at, letter in enumerate("KMGTPE", 1)}
RATES = {
    f"{letter}{unit}": Fraction(size, bits)
    for letter, size in (POWERS | BINARY).items()
    for unit, bits in (("Bps", 1), ("bps", 8))
}
TIMES = {
    "": Fraction(1), "s": Fraction(1), "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9), "ps": Fraction(1, 10**12), "m": Fraction(60), "h": Fraction(3600),
    "d": Fraction(86400), "w": Fraction(604800),
}  # fmt: skip
"""The format's units in bytes per second, and in seconds."""


class SimgridRoute(NamedTuple):
    """A route: its links, and its line in the file."""

    links: tuple[str, ...]
    line: int


class Platform:
    """Reader of a platform."""

    def __init__(self) -> None:
        self.wiring = Wiring()
        self.links = dict[str, Element]()
        self.ways = defaultdict[tuple[str, str], list[SimgridRoute]](list)
        self.laying = Laying()

    def ignore(self, what: str, name: str) -> None:
        """Record a property of the file that the network ignores, and the name of its element."""
        self.wiring.ignore(what, name)

    def zone(self, zone: Element) -> None:
        """Read the elements of a zone."""
        kind = zone.attributes.get("routing", "")
        if kind.lower() == "cluster":
            self.star(zone)
            return
        if kind.lower() not in ROUTED:
            raise ValueError(
                f"line {zone.line}: routing {quoted(kind)} gives no ends of links; use one of "
                f"{', '.join(ROUTED)}, cluster"
            )
        for element in zone.inside:
            self.element(element)

    def star(self, zone: Element) -> None:
        """Read a zone whose hosts are all joined to its router."""
        routers = [element for element in zone.inside if element.tag == "router"]
        named = f"{zone.attributes.get('id', '')}_router"
        hub = routers[0].attributes.get("id", "") if routers else named
        self.wiring.add(hub, True)
        for element in zone.inside:
            if element in routers[:1]:
                continue
            given = element.attributes
            if element.tag == "cabinet":
                costs = latency_of(given.get("lat", "0")), rate_of(given.get("bw", ""))
                for host in hosts_of(given):
                    self.wiring.add(host, False)
                    self.wiring.link(host, hub, *costs)
            elif element.tag == "backbone":
                self.ignore(BACKBONES, given.get("id", ""))
            elif element.tag != "host_link":
                self.element(element)
        for element in (each for each in zone.inside if each.tag == "host_link"):
            host, up, down = (element.attributes.get(name, "") for name in ("id", "up", "down"))
            if host not in self.wiring.graph:
                raise ValueError(f"line {element.line}: no host {quoted(host)} is in the zone")
            self.wiring.link(host, hub, *self.costs(self.name(up, element.line)))
            self.name(down, element.line)

    def element(self, element: Element) -> None:
        """Read an element of a zone."""
        tag, given = element.tag, element.attributes
        try:
            if tag in ("zone", "AS"):
                self.zone(element)
            elif tag in ("host", "router"):
                self.wiring.add(given.get("id", ""), tag == "router")
            elif tag == "link":
                self.links[given.get("id", "")] = element
            elif tag == "cluster":
                costs = latency_of(given.get("lat", "0")), rate_of(given.get("bw", ""))
                add_cluster(self.wiring, given, *costs)
            elif tag in ROUTES:
                self.route(element)
            elif tag in APART:
                self.ignore("elements", f"<{tag}>")
            else:
                raise ValueError(f"<{tag}> is not supported")
        except ValueError as error:
            reason = str(error)
            raise ValueError(
                reason if reason.startswith("line ") else f"line {element.line}: {reason}"
            ) from None

    def route(self, element: Element) -> None:
        """Store a route; a route from a host to itself is left out."""
        ends = [element.attributes.get(name, "") for name in ROUTES[element.tag]]
        for end in ends:
            if end not in self.wiring.graph:
                raise ValueError(f"host or router {quoted(end)} is not defined above")
        links = tuple(
            self.name(part.attributes.get("id", ""), part.line) for part in element.all("link_ctn")
        )
        if ends[0] == ends[1]:
            self.ignore("routes from a host to itself", ends[0])
            return
        if not links:
            raise ValueError("the route has no link")
        self.ways[ends[0], ends[1]].append(SimgridRoute(links, element.line))
        if element.attributes.get("symmetrical", "YES").upper() == "YES":
            self.ways[ends[1], ends[0]].append(SimgridRoute(links[::-1], element.line))

    def name(self, name: str, line: int) -> str:
        """Return the link that a name means; ``_UP`` and ``_DOWN`` mark directions."""
        for ending in ("", "_UP", "_DOWN"):
            if name.endswith(ending) and name.removesuffix(ending) in self.links:
                return name.removesuffix(ending)
        raise ValueError(f"line {line}: link {quoted(name)} is not defined above")

    def wired(self) -> networkx.Graph:
        """Return the graph with all links placed along the routes, shortest routes first."""
        ways = [(u, v, way) for (u, v), found in self.ways.items() for way in found]
        ways.sort(key=lambda each: (len(each[2].links), each[0], each[1], each[2].line))
        walked = dict[tuple[str, str], list[End]]()
        for u, v, way in ways:
            back = SimgridRoute(way.links[::-1], way.line)
            if u < v or back not in self.ways.get((v, u), ()):
                walked[u, v] = self.laying.walk(way.links, u, v)
                if back in self.ways.get((v, u), ()):
                    walked[v, u] = walked[u, v][::-1]
                else:
                    self.note_one_way(u, v, way)
        self.lay(walked)
        return self.wiring.finished()

    def note_one_way(self, u: str, v: str, way: SimgridRoute) -> None:
        """Record links of a route that no route in the opposite direction uses."""
        for link in way.links:
            if not any(link in other.links for other in self.ways.get((v, u), ())):
                self.ignore(ONE_WAY, link)

    def lay(self, walked: dict[tuple[str, str], list[End]]) -> None:
        """Add the placed links and their junctions to the graph, then the routes."""
        names = dict[End, str]()
        for link, pairs in self.laying.cables():
            if len(pairs) > 1:
                self.ignore(SEVERAL, link)
            costs = self.costs(link)
            for pair in pairs:
                for end in pair:
                    if isinstance(end, int) and end not in names:
                        names[end] = f"junction {len(names)}"
                        self.wiring.add(names[end], True)
                u, v = (names.get(end, str(end)) for end in pair)
                self.wiring.link(u, v, *costs)
        self.keep(
            {
                pair: [names.get(end, str(end)) for end in map(self.laying.found, way)]
                for pair, way in walked.items()
            }
        )

    def keep(self, routes: dict[tuple[str, str], list[str]]) -> None:
        """Store routes if all pairs of hosts have one; record routes that are not shortest."""
        import networkx

        graph = self.wiring.graph
        hosts = [node for node, switch in graph.nodes(data="switch") if not switch]
        listed = all((u, v) in routes for u in hosts for v in hosts if u != v)
        if listed:
            graph.graph["routes"] = routes
        sources = {u for u, _ in routes}
        if len(sources) * len(graph) > MOST_FOLLOWED:
            self.ignore(LONGER, "not checked in a network of this size")
            return
        hops = {u: networkx.single_source_shortest_path_length(graph, u) for u in sources}
        for (u, v), way in sorted(routes.items()):
            if len(way) - 1 > hops[u][v]:
                said = f"{u} to {v} ({len(way) - 1} links, {hops[u][v]} are enough)"
                self.ignore(LONGER + (IF_LISTED if listed else ""), said)

    def costs(self, link: str) -> tuple[Fraction, Fraction]:
        """Return the latency and bandwidth of a link, and record its ignored attributes."""
        element = self.links[link]
        given = element.attributes
        policy = given.get("sharing_policy", "SHARED").upper()
        if policy == "FATPIPE":
            self.ignore(FATPIPES, link)
        elif policy not in SHARED:
            raise ValueError(f"line {element.line}: a {policy} link does not join two ends")
        if any(given.get(name) for name in PROFILES):
            self.ignore(f"changes of links in time ({', '.join(PROFILES)})", link)
        try:
            return latency_of(given.get("latency", "0")), rate_of(given.get("bandwidth", ""))
        except ValueError as error:
            raise ValueError(f"line {element.line}: {error}") from None


def read_simgrid(data: bytes) -> networkx.Graph:
    """Read a platform: hosts are processors, routers are switches, in the order of the file.

    Raises
    ------
    ValueError
        The file is not a platform, or a link does not join two ends. The message begins with the
        line.
    """
    platform = Platform()
    for element in parse_xml(data, named=True).inside:
        platform.element(element)
    return platform.wired()


def rate_of(text: str) -> Fraction:
    """Read a bandwidth in bytes per second."""
    rate = _quantity(text, RATES | {"": Fraction(1)}, "bandwidth")
    if rate == 0:
        raise ValueError("a bandwidth must be above 0")
    return rate


def latency_of(text: str) -> Fraction:
    """Read a latency in seconds."""
    return _quantity(text, TIMES, "latency")


def _quantity(text: str, units: dict[str, Fraction], what: str) -> Fraction:
    found = QUANTITY.fullmatch(text.strip())
    if found is None or found[2] not in units or len(text) > 64:
        raise ValueError(f"{quoted(text)} is not a {what}")
    return Fraction(found[1]) * units[found[2]]

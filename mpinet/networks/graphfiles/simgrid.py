"""SimGrid's platforms (XML): zones of hosts and routers, links, and the routes that place them."""

from __future__ import annotations

import re
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from mpinet.base.markup import Element, parse_xml
from mpinet.base.numerals import quoted
from mpinet.networks.graphfiles.simgridclusters import add_cluster
from mpinet.networks.graphfiles.wiring import Wiring

if TYPE_CHECKING:
    import networkx

ROUTED = ("full", "floyd", "dijkstra", "dijkstracache")
"""Kinds of zones whose routes say where links are."""

ROUTES = {
    "route": ("src", "dst"),
    "zoneRoute": ("gw_src", "gw_dst"),
    "ASroute": ("gw_src", "gw_dst"),
}
"""Elements that are routes, and which of their attributes name the ends."""

APART = ("prop", "config", "actor", "process", "disk")
"""Elements that say nothing of the wiring."""

QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?)\s*([A-Za-z]*)")
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
"""Bytes a second, and seconds, of the format's units."""


class Way(NamedTuple):
    """A way from one end to another: the links on it, and the line that tells of it."""

    links: tuple[str, ...]
    line: int


class Platform:
    """A platform while it is read."""

    def __init__(self) -> None:
        self.wiring = Wiring()
        self.links = dict[str, Element]()
        self.ways = defaultdict[tuple[str, str], list[Way]](list)
        self.used = dict[str, tuple[str, str]]()

    def zone(self, zone: Element) -> None:
        """Read what is in a zone."""
        kind = zone.attributes.get("routing", "")
        if kind.lower() not in ROUTED:
            raise ValueError(
                f"line {zone.line}: routing {quoted(kind)} does not say where links are; that of "
                f"{', '.join(ROUTED)} does"
            )
        for element in zone.inside:
            self.element(element)

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
            elif tag not in APART:
                raise ValueError(f"<{tag}> is not read")
        except ValueError as error:
            reason = str(error)
            raise ValueError(
                reason if reason.startswith("line ") else f"line {element.line}: {reason}"
            ) from None

    def route(self, element: Element) -> None:
        """Keep a route; one from a host to itself is left out."""
        ends = [element.attributes.get(name, "") for name in ROUTES[element.tag]]
        for end in ends:
            if end not in self.wiring.graph:
                raise ValueError(f"no host or router {quoted(end)} stands above")
        links = tuple(self.name(part) for part in element.all("link_ctn"))
        if ends[0] == ends[1]:
            return
        if not links:
            raise ValueError("the route has no link")
        self.ways[ends[0], ends[1]].append(Way(links, element.line))
        if element.attributes.get("symmetrical", "YES").upper() == "YES":
            self.ways[ends[1], ends[0]].append(Way(links[::-1], element.line))

    def name(self, part: Element) -> str:
        """Return the link that a route's part means; ``_UP`` and ``_DOWN`` are its directions."""
        name = part.attributes.get("id", "")
        for ending in ("", "_UP", "_DOWN"):
            if name.endswith(ending) and name.removesuffix(ending) in self.links:
                return name.removesuffix(ending)
        raise ValueError(f"line {part.line}: no link {quoted(name)} stands above")

    def wired(self) -> networkx.Graph:
        """Lay the links of routes that have one; longer routes have to follow these."""
        for (u, v), ways in sorted(self.ways.items()):
            alone = {way.links[0]: way.line for way in ways if len(way.links) == 1}
            back = {way.links[0] for way in self.ways.get((v, u), ()) if len(way.links) == 1}
            for link, line in alone.items():
                if link not in back:
                    raise ValueError(f"line {line}: no route leads back from {v} to {u} by {link}")
                if u < v:
                    self.lay(link, u, v, line)
        for (u, v), ways in sorted(self.ways.items()):
            for way in ways:
                if len(way.links) > 1:
                    self.follow(u, v, way)
        return self.wiring.finished()

    def lay(self, link: str, u: str, v: str, line: int) -> None:
        """Add a link between two ends."""
        element = self.links[link]
        given = element.attributes
        policy = given.get("sharing_policy", "SHARED").upper()
        if policy not in ("SHARED", "SPLITDUPLEX", "FULLDUPLEX"):
            raise ValueError(f"line {element.line}: a {policy} link is none between two ends")
        for name in ("bandwidth_file", "latency_file", "state_file"):
            if given.get(name):
                raise ValueError(f"line {element.line}: {name}: a link here never changes")
        if self.used.setdefault(link, (u, v)) != (u, v):
            raise ValueError(
                f"line {line}: link {link} joins {u} and {v}, and {' and '.join(self.used[link])}: "
                "what more than two share is no link here"
            )
        try:
            costs = latency_of(given.get("latency", "0")), rate_of(given.get("bandwidth", ""))
        except ValueError as error:
            raise ValueError(f"line {element.line}: {error}") from None
        self.wiring.link(u, v, *costs)

    def follow(self, u: str, v: str, way: Way) -> None:
        """Walk along a route of several links."""
        at = u
        for link in way.links:
            ends = self.used.get(link)
            if ends is None or at not in ends:
                raise ValueError(
                    f"line {way.line}: the route from {u} to {v} takes link {link}, and no route "
                    f"of one link says that it begins at {at}"
                )
            at = ends[1] if ends[0] == at else ends[0]
        if at != v:
            raise ValueError(f"line {way.line}: the links of the route from {u} end at {at}")


def read_simgrid(data: bytes) -> networkx.Graph:
    """Read a platform: hosts are processors, routers are switches, in the order of the file.

    Raises
    ------
    ValueError
        It is none, or has what is no link between two; the sentence begins with the line.
    """
    platform = Platform()
    for element in parse_xml(data, named=True).inside:
        platform.element(element)
    return platform.wired()


def rate_of(text: str) -> Fraction:
    """Read a bandwidth in bytes a second."""
    rate = _quantity(text, RATES | {"": Fraction(1)}, "bandwidth")
    if rate == 0:
        raise ValueError("a bandwidth is more than 0")
    return rate


def latency_of(text: str) -> Fraction:
    """Read a latency in seconds."""
    return _quantity(text, TIMES, "latency")


def _quantity(text: str, units: dict[str, Fraction], what: str) -> Fraction:
    found = QUANTITY.fullmatch(text.strip())
    if found is None or found[2] not in units or len(text) > 64:
        raise ValueError(f"{quoted(text)} is no {what}")
    return Fraction(found[1]) * units[found[2]]

"""InfraGraph (JSON, YAML): devices of components, instances of devices, edges between slices."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from mpinet.base.numerals import quoted
from mpinet.networks.graphfiles.wiring import MOST_LINKS, Wiring

if TYPE_CHECKING:
    import networkx

PROCESSORS = "xpu"
"""The ``choice`` of components that are processors; all other components only forward."""

RATES = {"gigabits_per_second": Fraction(10**9, 8), "gigabytes_per_second": Fraction(10**9)}
TIMES = {"ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9)}
"""The format's units in bytes per second, and in seconds."""

SLICE = re.compile(r"([^\[\].]+)(?:\[(\d{0,9})(?:(:)(\d{0,9}))?\])?")
"""A name and its indexes: all of them, ``[3]``, ``[0:4]``, ``[:4]`` or ``[2:]``."""

MOST_YAML = 2**22
"""Size in bytes of the largest YAML file; YAML is read a hundred times slower than JSON."""

DEEPEST = 8
"""Largest nesting depth of devices."""

Costs = tuple[Fraction | None, Fraction | None]
"""Latency in seconds and bandwidth in bytes per second, None if unknown."""


class Infrastructure:
    """Reader of an infrastructure: its devices by name, and the wiring found so far."""

    def __init__(self, document: Mapping[str, Any]):
        self.wiring = Wiring()
        self.devices = {_text(each, "name"): each for each in _list(document, "devices")}
        self.processors = 0

    def instance(self, prefix: str, name: str, deep: int = 0) -> None:
        """Add the components of a device, and the links between them."""
        device = self.devices.get(name)
        if device is None or deep > DEEPEST:
            raise ValueError(f"device {quoted(name)} does not exist or contains itself")
        for component in _list(device, "components"):
            part = _text(component, "name")
            choice = component.get("choice")
            for at in range(_count(component)):
                node = f"{prefix}.{part}.{at}"
                if choice == "device":
                    self.instance(node, part, deep + 1)
                    continue
                self.wiring.add(node, choice != PROCESSORS)
                self.processors += choice == PROCESSORS
        links = _links(device)
        for edge in _list(device, "edges"):
            ends = [self.inside(name, _dict(edge, end)) for end in ("ep1", "ep2")]
            self.join([[f"{prefix}.{each}" for each in end] for end in ends], edge, links)

    def inside(self, device: str, end: Mapping[str, Any]) -> list[str]:
        """Return the components that an edge's end names, such as ``cx5.0.port.1``."""
        words = [*filter(None, (end.get("device"), end.get("component")))]
        found = [""]
        for word in ".".join(map(str, words)).split("."):
            counts = {
                _text(each, "name"): _count(each)
                for each in _list(self.devices.get(device, {}), "components")
            }
            name, places = sliced(word, counts)
            if len(found) * len(places) > MOST_LINKS:
                raise ValueError(f"{word} names more than {MOST_LINKS} ends")
            found = [f"{one}.{name}.{at}".lstrip(".") for one in found for at in places]
            device = name
        return found

    def join(
        self, ends: list[list[str]], edge: Mapping[str, Any], links: Mapping[str, Costs]
    ) -> None:
        """Link the two ends of an edge, all pairs or one to one, without parallel links."""
        scheme = edge.get("scheme")
        if scheme not in ("many2many", "one2one"):
            raise ValueError(f"an edge's scheme is many2many or one2one, not {quoted(str(scheme))}")
        self.wiring.require_room(prod(map(len, ends)) if scheme == "many2many" else len(ends[0]))
        pairs = product(*ends) if scheme == "many2many" else zip(*ends, strict=False)
        costs = links.get(str(edge.get("link")), (None, None))
        for u, v in pairs:
            for end in (u, v):
                if end not in self.wiring.graph:
                    raise ValueError(f"there is no component {end}")
            if u != v and not self.wiring.graph.has_edge(u, v):
                self.wiring.link(u, v, *costs)


def read_infragraph(data: bytes) -> networkx.Graph:
    """Read an infrastructure: components of the choice xpu are processors, all others switches.

    Components without a link are left out.

    Raises
    ------
    ValueError
        The file is not an infrastructure; the message begins with the place.
    """
    return _read(json.loads(data))


def read_infragraph_yaml(data: bytes) -> networkx.Graph:
    """Read an infrastructure in YAML, with plain values only and without aliases."""
    try:
        import yaml
    except ImportError:
        raise ValueError('YAML needs PyYAML: pip install "mpinet[yaml]"') from None
    if len(data) > MOST_YAML:
        raise ValueError(f"the YAML has more than {MOST_YAML:,} bytes: convert the file to JSON")
    try:
        for event in yaml.parse(data, yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1
                raise ValueError(f"line {line}: the alias *{event.anchor} is not supported")
        return _read(yaml.load(data, yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        raise ValueError(f"line {line}: the file is not YAML of plain values") from None


def _read(document: Any) -> networkx.Graph:
    """Return the graph of a parsed JSON or YAML document."""
    if isinstance(document, dict):
        document = document.get("infrastructure", document)
    found, sizes = Infrastructure(document), dict[str, tuple[str, int]]()
    for number, each in enumerate(_list(document, "instances")):
        name, device, count = _text(each, "name"), _text(each, "device"), _count(each)
        sizes[name] = device, count
        place, before = f"instances[{number}]", len(found.wiring.graph)
        for at in range(count):
            with_place(place, found.instance, f"{name}.{at}", device)
            if at == 0:  # all other instances have as many nodes
                more = (count - 1) * (len(found.wiring.graph) - before)
                with_place(place, found.wiring.require_room, more)
    links = _links(document)
    for number, edge in enumerate(_list(document, "edges")):
        with_place(f"edges[{number}]", _edge, found, edge, sizes, links)
    graph = found.wiring.finished()
    graph.remove_nodes_from([node for node, degree in [*graph.degree()] if degree == 0])
    if not found.processors:
        raise ValueError(f"no component has the choice {PROCESSORS}: the network needs a processor")
    return graph


def _edge(
    found: Infrastructure,
    edge: Mapping[str, Any],
    sizes: Mapping[str, tuple[str, int]],
    links: Mapping[str, Costs],
) -> None:
    """Add the links of an edge between instances."""
    ends = []
    for key in ("ep1", "ep2"):
        end = _dict(edge, key)
        counts = {name: count for name, (_, count) in sizes.items()}
        name, places = sliced(_text(end, "instance"), counts)
        parts = found.inside(sizes[name][0], {"component": _text(end, "component")})
        if len(places) * len(parts) > MOST_LINKS:
            raise ValueError(f"{key} names more than {MOST_LINKS} ends")
        ends.append([f"{name}.{at}.{part}" for at in places for part in parts])
    found.join(ends, edge, links)


def with_place(place: str, call: Any, *given: Any) -> None:
    """Call a function; add the place in the file to the message of a `ValueError`."""
    try:
        call(*given)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def sliced(word: str, counts: Mapping[str, int]) -> tuple[str, range]:
    """Return a name and its range of indexes, which are written as Python slices."""
    found = SLICE.fullmatch(word)
    name = found[1] if found else word
    if found is None or name not in counts:
        raise ValueError(f"{quoted(word)} does not exist")
    count, first, more, last = counts[name], found[2], found[3], found[4]
    if first is None:
        return name, range(count)
    if not more:
        places = range(int(first or 0), int(first or 0) + 1)
    else:
        places = range(int(first or 0), int(last) if last else count)
    if places.stop > count or not places:
        raise ValueError(f"{word}: {name} has indexes 0..{count - 1}")
    return name, places


def _links(owner: Mapping[str, Any]) -> dict[str, Costs]:
    """Return latency and bandwidth of each link, by its name."""
    found = dict[str, Costs]()
    for each in _list(owner, "links"):
        physical = each.get("physical") or {}
        found[_text(each, "name")] = (
            _quantity(physical.get("latency"), TIMES),
            _quantity(physical.get("bandwidth"), RATES),
        )
    return found


def _quantity(given: Any, units: Mapping[str, Fraction]) -> Fraction | None:
    """Return a value in seconds or bytes per second; None if absent or in an unknown unit."""
    unit = str(given.get("choice")) if isinstance(given, dict) else ""
    value = given.get(unit) if unit in units else None
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 < value < 2**53:
        raise ValueError(f"{unit} is a number above 0, not {quoted(str(value))}")
    return Fraction(str(value)) * units[unit]


def _count(given: Mapping[str, Any]) -> int:
    value = given.get("count", 1)
    if type(value) is not int or not 0 <= value <= MOST_LINKS:
        raise ValueError(f"count is a whole number 0..{MOST_LINKS}, not {quoted(str(value))}")
    return value


def _dict(given: Any, key: str) -> dict[str, Any]:
    found = given.get(key) if isinstance(given, dict) else None
    if not isinstance(found, dict):
        raise ValueError(f"{key} is an object")
    return found


def _text(given: Any, key: str) -> str:
    found = given.get(key) if isinstance(given, dict) else None
    if not isinstance(found, str):
        raise ValueError(f"{key} is text")
    return found


def _list(given: Any, key: str) -> list[dict[str, Any]]:
    found: Any = given.get(key) or [] if isinstance(given, dict) else None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError(f"{key} is a list of objects")
    return found

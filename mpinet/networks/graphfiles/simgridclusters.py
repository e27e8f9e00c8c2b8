"""Clusters in SimGrid's platforms: stars, tori, fat trees and dragonflies in one element."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations, product
from math import prod

from mpinet.base.numerals import quoted
from mpinet.networks.graphfiles.wiring import MOST_LINKS, Wiring

BACKBONES = "backbones (all routes of a cluster share their bandwidth)"
FATPIPES = "FATPIPE (a link here carries one message a step)"

WITHOUT = {
    "bb_bw": BACKBONES,
    "limiter_link": "limiter_link (a bound on what a host sends in all)",
    "loopback_bw": "routes from a host to itself",
}
"""Attributes that describe no links, with the text that reports them as ignored."""


def add_cluster(
    wiring: Wiring, given: Mapping[str, str], latency: Fraction, rate: Fraction
) -> None:
    """Add the hosts, switches and links of a cluster.

    Raises
    ------
    ValueError
        The attributes describe no cluster, or a cluster with unsupported links.
    """
    name = given.get("id", "")
    for attribute, what in WITHOUT.items():
        if given.get(attribute):
            wiring.ignore(what, name)
    if given.get("sharing_policy", "SPLITDUPLEX").upper() == "FATPIPE":
        wiring.ignore(FATPIPES, name)
    hosts = hosts_of(given)
    kind = given.get("topology", "FLAT").upper()
    if kind not in KINDS:
        raise ValueError(f"a cluster's topology is {', '.join(KINDS)}, not {quoted(kind)}")
    for host in hosts:
        wiring.add(host, False)
    prefix, suffix = given.get("prefix", ""), given.get("suffix", "")
    name = given.get("router_id") or f"{prefix}{name}_router{suffix}"
    try:
        shape = [[*map(int, part.split(","))] for part in _shape(given) if kind != "FLAT"]
    except ValueError:
        shape = [[]]
    if kind != "FLAT" and not all(part and min(part) >= 1 for part in shape):
        raise ValueError(f"topo_parameters of a {kind} are numbers from 1")
    KINDS[kind](wiring, hosts, name, shape, (latency, rate))


def hosts_of(given: Mapping[str, str]) -> list[str]:
    """Return the names of the hosts of a cluster or cabinet."""
    prefix, suffix = given.get("prefix", ""), given.get("suffix", "")
    return [f"{prefix}{number}{suffix}" for number in _radical(given.get("radical", ""))]


def _shape(given: Mapping[str, str]) -> list[str]:
    return given.get("topo_parameters", "").split(";")


def _radical(text: str) -> list[int]:
    """Read ranges of numbers, such as ``0-3,7``."""
    found = list[int]()
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", part)
        if ends is None:
            raise ValueError(f"radical is ranges of numbers such as 0-3,7, not {quoted(text)}")
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if last - first + len(found) >= MOST_LINKS:
            raise ValueError(f"radical: there are more than {MOST_LINKS} hosts")
        found += range(first, last + 1)
    return found


Costs = tuple[Fraction, Fraction]
"""Latency in seconds, bandwidth in bytes per second."""


def _require(wiring: Wiring, hosts: list[str], wanted: int, links: int) -> None:
    if len(hosts) != wanted:
        raise ValueError(f"topo_parameters ask for {wanted} hosts, and radical names {len(hosts)}")
    wiring.require_room(links)


def _flat(
    wiring: Wiring, hosts: list[str], name: str, shape: list[list[int]], costs: Costs
) -> None:
    """Join every host to the cluster's router."""
    wiring.add(name, True)
    for host in hosts:
        wiring.link(host, name, *costs)


def _torus(
    wiring: Wiring, hosts: list[str], name: str, shape: list[list[int]], costs: Costs
) -> None:
    """Join each host to the next in every dimension; the first dimension varies fastest."""
    sides = shape[0]
    _require(wiring, hosts, prod(sides), prod(sides) * len(sides))
    stride = 1
    for side in sides:
        for at, host in enumerate(hosts):
            place = at // stride % side
            if place + 1 < side:
                wiring.link(host, hosts[at + stride], *costs)
            elif side > 2:
                wiring.link(host, hosts[at - place * stride], *costs)
        stride *= side


def _fat_tree(
    wiring: Wiring, hosts: list[str], name: str, shape: list[list[int]], costs: Costs
) -> None:
    """Join switches whose labels differ only in the level's digit, by parallel links."""
    if len(shape) != 4 or any(len(part) != shape[0][0] for part in shape[1:]):
        raise ValueError("topo_parameters of a FAT_TREE are levels;children;parents;cables")
    levels, (down, up, cables) = shape[0][0], shape[1:]
    sizes = [prod(up[:level]) * prod(down[level:]) for level in range(levels + 1)]
    links = sum(
        size * parents * each for size, parents, each in zip(sizes, up, cables, strict=False)
    )
    _require(wiring, hosts, sizes[0], links + sum(sizes))
    nodes = [hosts]
    for level in range(1, levels + 1):
        nodes.append([f"{name}:{level}.{at}" for at in range(sizes[level])])
        for node in nodes[-1]:
            wiring.add(node, True)
    for level in range(levels):
        stride = prod(up[:level])
        for at, node in enumerate(nodes[level]):
            above, below = divmod(at, stride * down[level])
            for parent in range(up[level]):
                to = above * stride * up[level] + parent * stride + below % stride
                for _ in range(cables[level]):
                    wiring.link(node, nodes[level + 1][to], *costs)


def _dragonfly(
    wiring: Wiring, hosts: list[str], name: str, shape: list[list[int]], costs: Costs
) -> None:
    """Join routers within a chassis, across the chassis of a group, and groups by one link each."""
    if [len(part) for part in shape] != [2, 2, 2, 1]:
        raise ValueError(
            "topo_parameters of a DRAGONFLY are groups,links;chassis,links;routers,links;nodes"
        )
    (groups, blue), (chassis, black), (blades, green), (nodes,) = shape
    routers = chassis * blades
    if groups > routers:
        raise ValueError(f"{groups} groups need more than the {routers} routers of a group")
    count = groups * routers
    links = count * (nodes + chassis + blades) + groups**2
    _require(wiring, hosts, count * nodes, links)
    names = [f"{name}:{at}" for at in range(count)]
    for router in names:
        wiring.add(router, True)
    for at, host in enumerate(hosts):
        wiring.link(names[at // nodes], host, *costs)
    latency, rate = costs
    for group, case in product(range(groups), range(chassis)):
        first = (group * chassis + case) * blades
        for u, v in combinations(range(first, first + blades), 2):
            wiring.link(names[u], names[v], latency, rate * green)
    for group, blade in product(range(groups), range(blades)):
        same = range(group * routers + blade, (group + 1) * routers, blades)
        for u, v in combinations(same, 2):
            wiring.link(names[u], names[v], latency, rate * black)
    for one, other in combinations(range(groups), 2):
        ends = names[one * routers + other], names[other * routers + one]
        wiring.link(*ends, latency, rate * blue)


KINDS = {"FLAT": _flat, "TORUS": _torus, "FAT_TREE": _fat_tree, "DRAGONFLY": _dragonfly}
"""Function that joins the hosts of each kind of cluster."""

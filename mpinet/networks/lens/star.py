"""The star of busses (docs/papers/lens, 10): p clusters joined by one bus at their connectors.

The busses form a tree: between two processors there is one path.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.lens.busses import (
    LEVEL,
    POWERS,
    RADIX,
    BusNetwork,
    cluster_channel,
    cluster_member,
    cluster_reverse,
    digit_at,
    first_bus,
)
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, shortest_routings

MAX_LEVEL = 39
"""Largest n that numbers of 64 bits can have."""


@inlined
def joined_at(joint, level, seat, params):
    """The connector of cluster `seat` on bus number `joint` of those between clusters."""
    return (joint * params[RADIX] + seat) * params[POWERS + level] + connector(level, params)


@rule
def decide(node, header, params):
    """Go to the connector of the largest cluster that has to be left, over it, and so on."""
    p = params[RADIX]
    goal = header[0]
    if node == goal:
        return ARRIVED
    level = params[LEVEL] - 1
    while True:
        while node // params[POWERS + level] == goal // params[POWERS + level]:
            level -= 1
        digit, other = digit_at(node, level, params), digit_at(goal, level, params)
        port = other if other < digit else other - 1
        if level == 0:
            return port
        goal = node - node % params[POWERS + level] + connector(level, params)
        if node == goal:
            return p - 1 + port


@inlined
def connector_level(node, params):
    """The level of the cluster whose connector the node is, -1 = none."""
    for level in range(1, params[LEVEL]):
        if node % params[POWERS + level] == connector(level, params):
            return level
    return -1


class BusStar(BusNetwork):
    """Star of p^n processors and (p^n - 1)/(p - 1) busses.

    The first bus of a processor joins the p numbers that differ in the last digit; a connector has
    a second one, which joins p clusters of its level. Ports are the other members, ascending by the
    digit that tells them apart. Busses are numbered level by level (ours).
    """

    family = "busstar"
    parameters = (whole_number("p", 3), whole_number("n", 1, MAX_LEVEL))
    example = "busstar:3,4"
    paper = "Finkel, Solomon (reconstruction)"
    specification = "papers/lens 10"

    def __init__(self, p: int, n: int):
        firsts = [p ** (n - 1)]
        for level in range(1, n):
            firsts.append(firsts[-1] + p ** (n - 1 - level))
        self.connectors = connectors(p, n)
        self.places, self.seats = min(n, 2), p
        super().__init__(
            f"{p},{n}",
            size=p**n,
            ports=self.places * (p - 1),
            params=[p, n, *(p**i for i in range(n + 1)), *firsts[: n - 1], *self.connectors],
            busses=firsts[-1],
        )

    @rule
    def neighbor(node, port, params):
        """The member that many places on, the processor itself left out."""
        p = params[RADIX]
        level = 0 if port < p - 1 else connector_level(node, params)
        if level < 0:
            return -1
        digit = digit_at(node, level, params)
        port -= 0 if level == 0 else p - 1
        return node + ((port if port < digit else port + 1) - digit) * params[POWERS + level]

    reverse_port = cluster_reverse.bind("BusStar.reverse_port", joint_level=connector_level)

    @rule
    def bus_at(node, place, params):
        """The bus of the last digit at place 0, a connector's second one at place 1."""
        if place == 0:
            return node // params[RADIX]
        level = connector_level(node, params)
        if level < 0:
            return -1
        return first_bus(level, params) + node // params[POWERS + level + 1]

    channel = cluster_channel.bind("BusStar.channel", bus_at_place=bus_at)
    member_at = cluster_member.bind("BusStar.member_at", joined_at=joined_at)

    routings = shortest_routings(connectors=decide)


def connectors(p: int, n: int) -> list[int]:
    """c_1 .. c_(n-1): the connector of a cluster of each level.

    It is the processor with a free second port that is nearest to the cluster's central bus, the
    least one of several. The central bus joins the connectors of the level below, so that the
    search goes out from the one with highest digit 0.
    """
    found = [0]
    while len(found) < n - 1:
        found.append(nearest_free(p, found))
    return found[: n - 1]


def nearest_free(p: int, found: list[int]) -> int:
    """The connector of the next level, by a breadth-first search around the last one found."""
    level = len(found)
    if level < p:
        return level
    seen = ring = {found[-1]}
    while True:
        ring = {v for u in ring for v in on_busses_of(u, p, found[:-1])} - seen
        free = [u for u in ring if not second_bus(u, p, found)]
        if free:
            return min(free)
        seen = seen | ring


def second_bus(u: int, p: int, found: list[int]) -> int:
    """The level of the cluster whose connector u is, 0 = none."""
    return next((m for m, c in enumerate(found, 1) if u % p**m == c), 0)


def on_busses_of(u: int, p: int, found: list[int]) -> list[int]:
    """The processors on the busses of u, itself among them."""
    levels = {0, second_bus(u, p, found)}
    return [u + (i - u // p**m % p) * p**m for m in levels for i in range(p)]


@inlined
def connector(level, params):
    """The connector of the first cluster of a level 1..n-1."""
    return params[POWERS + 2 * params[LEVEL] - 1 + level]

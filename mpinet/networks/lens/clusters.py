"""Networks of clusters of busses (docs/papers/lens, 10): the dense snowflake and the star.

In a dense snowflake p-1 busses join p clusters at their corners. The report gives one sentence
only; docs/papers/lens, 10, completes the definition. Corner c of a cluster is its processor
ccc..c. Among the busses that join p clusters, bus number `t` joins corner i+t (mod p) of each
cluster i. All corners of a cluster of level m are 2^m - 1 hops from each other. Within a
processor's cluster, the corner named by its first digit may be nearest. All other corners are
equally far.

In a star one bus joins p clusters at their connectors. The busses form a tree: every two processors
have exactly one path.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.lens.busses import (
    LEVEL,
    POWERS,
    RADIX,
    BusClusters,
    cluster_channel,
    cluster_member,
    cluster_reverse,
    digit_at,
    first_bus,
)
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, shortest_routings


@inlined
def corner_at(joint, level, seat, params):
    """Return the corner of cluster `seat` on bus number `joint` between clusters of a level."""
    p = params[RADIX]
    above = joint // (p - 1)
    corner = (seat + joint - above * (p - 1) + 1) % p
    return (above * p + seat) * params[POWERS + level] + corner_of(level, corner, params)


@rule
def decide_by_corners(node, header, params):
    """Return the port to the exit corner of the largest cluster that the message has to leave."""
    p = params[RADIX]
    target = header[0]
    if node == target:
        return ARRIVED
    level = params[LEVEL] - 1
    while node // params[POWERS + level] == target // params[POWERS + level]:
        level -= 1
    digit, other = digit_at(node, level, params), digit_at(target, level, params)
    if level == 0:
        return other if other < digit else other - 1
    corner = exit_corner(node, target, level, digit, other, params)
    cluster = level
    while level > 0:
        own = node % params[POWERS + level]
        if own == corner_of(level, corner, params):
            return p - 1 + (other if other < digit else other - 1)
        level -= 1
        here = digit_at(node, level, params)
        if here == corner:
            continue
        digit, other = here, corner
        if level == 0:
            return other if other < digit else other - 1
        corner = corner_before(node, level, digit, params)
    return cluster


@inlined
def suffix(node, params):
    """Return the level of the largest cluster with the node as a corner, -1 for the network."""
    corner, level = node % params[RADIX], 0
    while level < params[LEVEL] and node % params[RADIX] == corner:
        node //= params[RADIX]
        level += 1
    return level if level < params[LEVEL] else -1


class DenseSnowflake(BusClusters):
    """Dense snowflake of p^n processors and 2p^(n-1) - 1 busses.

    The first bus of a processor joins the p numbers that differ in the last digit, the second bus
    joins clusters. Ports lead to the other members, in ascending order of the digit that
    distinguishes members. Busses are numbered level by level (ours).
    """

    parameters = (whole_number("p", 2), whole_number("n", 1, 62))
    example = "snowflake:3,4"
    paper = "Finkel, Solomon (reconstruction)"
    specification = "papers/lens 10"

    def __init__(self, p: int, n: int):
        stated = {"busses": 2 * p ** (n - 1) - 1, "diameter": 2**n - 1}
        super().__init__(p, n, p - 1, (), stated)

    @rule
    def neighbor(node, port, params):
        """Return the port's member of the bus, counted without the processor itself."""
        p = params[RADIX]
        corner = node % p
        if port < p - 1:
            return node - corner + (port if port < corner else port + 1)
        level = suffix(node, params)
        if level < 0:
            return -1
        digit = digit_at(node, level, params)
        port -= p - 1
        other = port if port < digit else port + 1
        return across(node, corner, level, digit, other, params)

    reverse_port = cluster_reverse.bind("DenseSnowflake.reverse_port", joint_level=suffix)

    @rule
    def bus_at(node, place, params):
        """Return the bus of the last digit at place 0, the bus between clusters at place 1."""
        p = params[RADIX]
        if place == 0:
            return node // p
        corner = node % p
        level = suffix(node, params)
        if level < 0:
            return -1
        turn = (corner - digit_at(node, level, params) + p) % p
        above = node // params[POWERS + level + 1]
        return first_bus(level, params) + above * (p - 1) + turn - 1

    channel = cluster_channel.bind("DenseSnowflake.channel", bus_at_place=bus_at)
    member_at = cluster_member.bind("DenseSnowflake.member_at", joined_at=corner_at)

    routings = shortest_routings(corners=decide_by_corners)


@inlined
def corner_of(level, corner, params):
    """Return corner `corner` of the first cluster of a level."""
    return corner * ((params[POWERS + level] - 1) // (params[RADIX] - 1))


@inlined
def across(node, corner, level, digit, other, params):
    """Return the member in cluster `other` on the bus of a corner in cluster `digit`."""
    p = params[RADIX]
    there = corner - digit + other
    there = there + p if there < 0 else (there - p if there >= p else there)
    return (
        node
        + (other - digit) * params[POWERS + level]
        + corner_of(level, there, params)
        - corner_of(level, corner, params)
    )


@inlined
def corner_distances(node, level, params):
    """Return (v, hops to corner v, hops to any other corner) in a node's cluster."""
    p = params[RADIX]
    near, to_near, to_others = node % p, 0, 1
    node //= p
    for below in range(1, level):
        digit = node % p
        node //= p
        to_digit = to_near if digit == near else to_others
        nearest = to_others if digit == near or (to_others < to_near and p > 2) else to_near
        near, to_near, to_others = digit, to_digit, nearest + (1 << below)
    return near, to_near, to_others


@inlined
def other_than(first, second, third):
    """Return the least digit that differs from three digits."""
    digit = 0
    while digit in (first, second, third):
        digit += 1
    return digit


@inlined
def exit_corner(node, goal, level, digit, other, params):
    """Return the corner of a shortest path out of cluster `digit` to node `goal`.

    Candidates are the corners nearest to both ends, and the least of the other corners.
    """
    p = params[RADIX]
    near, to_near, to_others = corner_distances(node, level, params)
    end, from_end, from_others = corner_distances(goal, level, params)
    end = (end - other + digit + p) % p
    best, corner = -1, -1
    for candidate in (near, end, other_than(digit, near, end)):
        if candidate == digit or candidate >= p:
            continue
        hops = to_near if candidate == near else to_others
        hops += from_end if candidate == end else from_others
        if corner < 0 or hops < best or (hops == best and candidate < corner):
            best, corner = hops, candidate
    return corner


@inlined
def corner_before(node, level, digit, params):
    """Return the exit corner of a cluster on a shortest path to a corner of another cluster."""
    near, to_near, to_others = corner_distances(node, level, params)
    rest = other_than(digit, near, near)
    if near == digit or rest >= params[RADIX]:
        return rest if near == digit else near
    if to_near == to_others:
        return min(near, rest)
    return near if to_near < to_others else rest


MAX_LEVEL = 39
"""Largest n for which 64-bit numbers suffice."""


@inlined
def connector_at(joint, level, seat, params):
    """Return the connector of cluster `seat` on bus number `joint` between clusters."""
    return (joint * params[RADIX] + seat) * params[POWERS + level] + connector(level, params)


@rule
def decide_by_connectors(node, header, params):
    """Return the port to the connector of the largest cluster that the message has to leave."""
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
    """Return the level of the cluster whose connector the node is, -1 = none."""
    for level in range(1, params[LEVEL]):
        if node % params[POWERS + level] == connector(level, params):
            return level
    return -1


class BusStar(BusClusters):
    """Star of p^n processors and (p^n - 1)/(p - 1) busses.

    The first bus of a processor joins the p numbers that differ in the last digit. A connector has
    a second bus, which joins p clusters of its level. Ports lead to the other members, in ascending
    order of the digit that distinguishes members. Busses are numbered level by level (ours).
    """

    parameters = (whole_number("p", 3), whole_number("n", 1, MAX_LEVEL))
    example = "busstar:3,4"
    paper = "Finkel, Solomon (reconstruction)"
    specification = "papers/lens 10"

    def __init__(self, p: int, n: int):
        self.connectors = connectors(p, n)
        super().__init__(p, n, 1, self.connectors)

    @rule
    def neighbor(node, port, params):
        """Return the port's member of the bus, counted without the processor itself."""
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
        """Return the bus of the last digit at place 0, a connector's second bus at place 1."""
        if place == 0:
            return node // params[RADIX]
        level = connector_level(node, params)
        if level < 0:
            return -1
        return first_bus(level, params) + node // params[POWERS + level + 1]

    channel = cluster_channel.bind("BusStar.channel", bus_at_place=bus_at)
    member_at = cluster_member.bind("BusStar.member_at", joined_at=connector_at)

    routings = shortest_routings(connectors=decide_by_connectors)


def connectors(p: int, n: int) -> list[int]:
    """Return c_1 .. c_(n-1): the connector of a cluster of each level.

    A connector is the processor with a free second port that is nearest to the cluster's central
    bus, the least one of several. The central bus joins the connectors of the level below. The
    search therefore starts at the connector with highest digit 0.
    """
    found = [0]
    while len(found) < n - 1:
        found.append(nearest_free(p, found))
    return found[: n - 1]


def nearest_free(p: int, found: list[int]) -> int:
    """Return the connector of the next level, by a breadth-first search from the last one found."""
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
    """Return the level of the cluster whose connector u is, 0 = none."""
    return next((m for m, c in enumerate(found, 1) if u % p**m == c), 0)


def on_busses_of(u: int, p: int, found: list[int]) -> list[int]:
    """Return the processors on the busses of u, including u."""
    levels = {0, second_bus(u, p, found)}
    return [u + (i - u // p**m % p) * p**m for m in levels for i in range(p)]


@inlined
def connector(level, params):
    """Return the connector of the first cluster of a level 1..n-1."""
    return params[POWERS + 2 * params[LEVEL] - 1 + level]

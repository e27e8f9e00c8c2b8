"""HyperX and flattened butterfly: processors that differ in one coordinate are neighbours.

DimWAR and OmniWAR are adaptive routings. At every hop a message takes a minimal hop, or a deroute:
a hop to a wrong coordinate, which makes the route one hop longer. Both multiply the queue of each
channel by the remaining hops, and take the channel with the least product that has room (McDonald,
Isaev, Flores, Davis, Kim 2019). DimWAR corrects dimension after dimension, with at most one deroute
per dimension. Deroutes are in class 0, minimal hops in class 1. OmniWAR corrects dimensions in any
order. Its classes count hops, two classes per dimension. Deroutes are allowed as long as enough
classes remain for the minimal hops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

from mpinet.compiled import Rule, inlined, rule
from mpinet.networks.adaptive import CLASS, PORT, QUEUES
from mpinet.networks.classic.grid import require_sides
from mpinet.networks.parameters import Parameter, sizes, whole_number
from mpinet.networks.routing import ARRIVED, Routing, shortest_routings
from mpinet.networks.topology import Topology, numbered

DIMENSIONS, SIDES = 2, 3
"""Places in the rules' parameters: the number of sides, and the first side."""

ASTRAY, STRAIGHT = 0, 1
"""Classes of DimWAR: of deroutes, and of minimal hops."""


def dimwar(straight: Routing) -> Routing:
    """Return DimWAR, made from dimension-order routing."""
    return weighing(straight, "dimwar", in_one_dimension, lightest_of_one, 2)


def omniwar(straight: Routing, dimensions: int) -> Routing:
    """Return OmniWAR with two classes per dimension, made from dimension-order routing."""
    return weighing(straight, "omniwar", in_all_dimensions, lightest_of_all, 2 * dimensions)


def weighing(straight: Routing, name: str, candidates: Rule, choose: Rule, classes: int) -> Routing:
    """Return a routing that compares minimal hops and deroutes by their queues."""
    return replace(
        straight,
        name=name,
        candidates=candidates,
        choose=choose,
        sees=QUEUES,
        eager=True,
        classes=classes,
        shortest=False,
        stateless=False,
    )


@inlined
def straight_port(node, target, params):
    """Return the port of the minimal hop in the first wrong dimension, its first port and side."""
    j, first, side = 0, 0, params[SIDES]
    weight = params[0] // side
    while node // weight % side == target // weight % side:
        first += side - 1
        j += 1
        side = params[SIDES + j]
        weight //= side
    here, wanted = node // weight % side, target // weight % side
    return first + (wanted if wanted < here else wanted - 1), first, side


@rule
def in_one_dimension(node, in_port, in_class, header, candidates, params):
    """List the minimal hop in the first wrong dimension, and deroutes unless the last hop was one.

    After a hop of class 0 the same dimension is still wrong. The class therefore marks a deroute in
    this dimension.
    """
    if node == header[0]:
        return ARRIVED
    straight, first, side = straight_port(node, header[0], params)
    candidates[0, PORT], candidates[0, CLASS] = straight, STRAIGHT
    # A second deroute in a dimension could return to the first node. One deroute is allowed, and
    # two classes suffice (McDonald et al. 2019).
    if in_class == ASTRAY:
        return 1
    count = 1
    for port in range(first, first + side - 1):
        if port != straight:
            candidates[count, PORT], candidates[count, CLASS] = port, ASTRAY
            count += 1
    return count


@inlined
def wrong_dimensions(node, target, params):
    """Return the number of dimensions in which two nodes differ."""
    weight, wrong = params[0], 0
    for j in range(params[DIMENSIONS]):
        side = params[SIDES + j]
        weight //= side
        wrong += node // weight % side != target // weight % side
    return wrong


@rule
def in_all_dimensions(node, in_port, in_class, header, candidates, params):
    """List the minimal hops of all dimensions, then deroutes in these if enough classes remain."""
    wrong = wrong_dimensions(node, header[0], params)
    if wrong == 0:
        return ARRIVED
    # Each hop uses up a class. A deroute is listed only if enough classes remain for one
    # minimal hop per wrong dimension.
    count, enough = 0, in_class + 2 + wrong <= 2 * params[DIMENSIONS]
    for astray in range(2 if enough else 1):
        weight, first = params[0], 0
        for j in range(params[DIMENSIONS]):
            side = params[SIDES + j]
            weight //= side
            here, wanted = node // weight % side, header[0] // weight % side
            straight = first + (wanted if wanted < here else wanted - 1)
            for port in range(first, first + side - 1):
                if here != wanted and (port != straight) == (astray == 1):
                    candidates[count, PORT], candidates[count, CLASS] = port, in_class + 1
                    count += 1
            first += side - 1
    return count


@inlined
def lightest(candidates, seen, straight, hops):
    """Return the candidate with room and the least queue times hops, the first of equals; -1: none.

    The first `straight` candidates have `hops` hops to go, the others one more.
    """
    count, best, least = candidates.shape[0], -1, 0
    for i in range(count):
        # The queue times the remaining hops estimates the load that the choice adds. A deroute adds
        # one remaining hop.
        weight = seen[candidates[i, PORT]] * (hops if i < straight else hops + 1)
        if seen[seen.size - count + i] > 0 and (best < 0 or weight < least):
            best, least = i, weight
    return best


@rule
def lightest_of_one(node, header, candidates, seen, params):
    """Return the lightest of one minimal hop and its deroutes."""
    return lightest(candidates, seen, 1, wrong_dimensions(node, header[0], params))


@rule
def lightest_of_all(node, header, candidates, seen, params):
    """Return the lightest of the minimal hops of all wrong dimensions and their deroutes."""
    wrong = wrong_dimensions(node, header[0], params)
    return lightest(candidates, seen, wrong, wrong)


@inlined
def dimension_of(port, params):
    """Return the dimension of a port, its first port, and the weight of its coordinate."""
    j, first, weight = 0, 0, params[0] // params[SIDES]
    # Sides may differ, and the dimension of a port is found by counting. A network has few
    # dimensions.
    while port - first >= params[SIDES + j] - 1:
        first += params[SIDES + j] - 1
        j += 1
        weight //= params[SIDES + j]
    return j, first, weight


@rule
def decide(node, header, params):
    """Return the port that corrects the first wrong coordinate."""
    return ARRIVED if node == header[0] else straight_port(node, header[0], params)[0]


class CompleteGrid(Topology):
    """Base of HyperX and flattened butterfly: row-major processors, ports of dimension 0 first.

    Within a dimension the ports lead to the other coordinates in ascending order.
    """

    sides: tuple[int, ...]
    default_classes = "none"

    def __init__(self, arguments: str, sides: tuple[int, ...]):
        self.sides = self.radices = sides
        self.cluster_lengths = [prod(sides[j:]) for j in range(1, len(sides))]
        degree = sum(sides) - len(sides)
        super().__init__(
            arguments,
            size=prod(sides),
            ports=degree,
            params=[len(sides), *sides],
            stated={"degree": degree, "diameter": len(sides)},
            link_classes=numbered("dimension", len(sides)),
        )

    @rule
    def neighbor(node, port, params):
        """Return the node with another coordinate in the port's dimension."""
        j, first, weight = dimension_of(port, params)
        here, port = node // weight % params[SIDES + j], port - first
        return node + ((port if port < here else port + 1) - here) * weight

    @rule
    def reverse_port(node, port, params):
        """Return the port that restores this node's coordinate."""
        j, first, weight = dimension_of(port, params)
        here = node // weight % params[SIDES + j]
        return first + (here - 1 if port - first < here else here)

    @rule
    def link_class(node, port, params):
        """Return the port's dimension."""
        j, _, _ = dimension_of(port, params)
        return j

    routings = shortest_routings(dimensions=decide)

    @property
    def load_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Routings for open-loop traffic, with DimWAR and OmniWAR."""
        return super().load_routings | {
            "dimwar": lambda seed: dimwar(self.routing()),
            "omniwar": lambda seed: omniwar(self.routing(), len(self.sides)),
        }


class HyperX(CompleteGrid):
    """HyperX, regular or not: the product of complete networks (Ahn et al. 2009)."""

    parameters = (Parameter("SIDES", "sides >= 2 joined by x", sizes),)
    example = "hyperx:4x4x3"
    paper = "Ahn, Binkert, Davis, McLaren, Schreiber 2009"

    def __init__(self, SIDES: tuple[int, ...]):
        require_sides("hyperx", SIDES)
        super().__init__("x".join(map(str, SIDES)), tuple(SIDES))


class FlattenedButterfly(CompleteGrid):
    """Flattened butterfly: the k-ary n-fly with one router per row (Kim, Dally, Abts 2007).

    The network has k^(n-1) routers in n-1 dimensions; in mpinet a router is one processor.
    """

    parameters = (whole_number("k", 2, 2**20), whole_number("n", 2, 63))
    example = "flatbutterfly:4,3"
    paper = "Kim, Dally, Abts 2007"

    def __init__(self, k: int, n: int):
        super().__init__(f"{k},{n}", (k,) * (n - 1))

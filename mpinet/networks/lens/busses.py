"""Base of the lens bus networks: local rules for incidences of processors and busses.

A *place* is the index of a bus at a processor, as counted in docs/papers/lens, 3. The ports of
`Topology` are the pairs (bus, other member) in the order of the places. The only member of a bus
has no port there, but the incidence exists in this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Mapped, Rule, inlined, open_part, rule
from mpinet.errors import NodeError
from mpinet.networks.topology import Topology

RADIX, LEVEL, POWERS = 2, 3, 4
"""Places in the rules' parameters of networks of clusters: p, n, and the powers p^0 .. p^n; the
first bus number of each level 1..n-1 follows.
"""


class BusNetwork(Topology):
    """A network of busses with local rules for its incidences.

    A family's class defines ``bus_at(node, place, params)``, the bus at a processor's place, and
    ``member_at(bus, place, params)``, the member at a place of the bus; -1 = none. The class sets
    ``places`` and ``seats``, the largest numbers of busses per processor and of processors per bus.
    """

    bus_at: ClassVar[Rule]
    member_at: ClassVar[Rule]
    places: int
    seats: int
    busses: int

    def incidences(self, nodes: Ints) -> Ints:
        """Return all busses of some processors, including busses without another member."""
        nodes = np.unique(nodes)
        rule = Mapped(type(self).bus_at, self.params, self.size, self.places)
        busses = rule(nodes[:, np.newaxis], np.arange(self.places)[np.newaxis, :])
        rows, places = np.nonzero(busses >= 0)
        pairs = np.stack([nodes[rows], busses[rows, places]], axis=1)
        # A bus with a single member has no port. Such a bus still counts for loads and costs, so
        # the method uses places instead of ports.
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def busses_of(self, node: int) -> list[int]:
        """Return the busses of a processor in the order of its places."""
        self.require_node(node)
        busses = (int(type(self).bus_at(node, i, self.params)) for i in range(self.places))
        return [bus for bus in busses if bus >= 0]

    def bus_members(self, bus: int) -> list[int]:
        """Return the processors on a bus in member order."""
        self.require_bus(bus)
        members = (int(type(self).member_at(bus, i, self.params)) for i in range(self.seats))
        return [node for node in members if node >= 0]

    def seats_of(self, nodes: Ints, busses: Ints) -> Ints:
        """Return the places of processors on their busses."""
        rule = Mapped(type(self).member_at, self.params, self.busses, self.seats)
        members = rule(busses[:, np.newaxis], np.arange(self.seats)[np.newaxis, :])
        return (members == nodes[:, np.newaxis]).argmax(axis=1)

    def require_bus(self, bus: int) -> None:
        """Raise `NodeError` unless `bus` is a bus of this network."""
        if not 0 <= bus < self.busses:
            raise NodeError(f"Bus {bus} is not in {self.name}: busses are 0..{self.busses - 1}.")


class BusClusters(BusNetwork):
    """Base of networks of p^n processors in nested clusters; at each level busses join p clusters.

    Parameters
    ----------
    p, n : int
        Number of joined clusters, and number of levels.
    joints : int
        Number of busses that join p clusters.
    more : sequence of int
        Parameters of the family after `LEVEL` and `POWERS`.
    stated : dict, optional
        As in `Topology`.
    """

    def __init__(
        self,
        p: int,
        n: int,
        joints: int,
        more: Sequence[int] = (),
        stated: dict[str, int] | None = None,
    ):
        firsts = [p ** (n - 1)]
        for level in range(1, n):
            firsts.append(firsts[-1] + joints * p ** (n - 1 - level))
        self.places, self.seats = min(n, 2), p
        super().__init__(
            f"{p},{n}",
            size=p**n,
            ports=self.places * (p - 1),
            params=[p, n, *(p**i for i in range(n + 1)), *firsts[: n - 1], *more],
            busses=firsts[-1],
            stated=stated,
        )


@inlined
def digit_at(node, level, params):
    """Return base-p digit number `level` of a node; the last digit is number 0."""
    return node // params[POWERS + level] % params[RADIX]


@inlined
def first_bus(level, params):
    """Return the first bus that joins clusters of a level 1..n-1."""
    return params[POWERS + params[LEVEL] + level]


# Parts of a family that `bind` inserts: its rule `bus_at`, the members of bus number `joint` of a
# level, and the level of a processor's second bus. The level is -1 without a second bus.
bus_at_place = joined_at = joint_level = open_part


@rule
def cluster_reverse(node, port, params):
    """Return the reverse port: the own digit's place among the others, on the same bus."""
    p = params[RADIX]
    first = 0 if port < p - 1 else p - 1
    level = 0 if first == 0 else joint_level(node, params)
    if level < 0:
        return -1
    digit = digit_at(node, level, params)
    return first + (digit if digit <= port - first else digit - 1)


@rule
def cluster_channel(node, port, params):
    """Return the bus of a port, if each bus has p members."""
    return bus_at_place(node, port // (params[RADIX] - 1), params)


@rule
def cluster_member(bus, seat, params):
    """Return the member in a bus's seat: in the cluster (or processor) with the seat's digit."""
    p, n = params[RADIX], params[LEVEL]
    if bus < params[POWERS + n - 1]:
        return bus * p + seat
    level = 1
    # There are at most 62 levels. A loop over their first numbers is cheaper than a logarithm of
    # the bus's number.
    while level < n - 1 and bus >= first_bus(level + 1, params):
        level += 1
    return joined_at(bus - first_bus(level, params), level, seat, params)

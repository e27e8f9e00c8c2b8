"""The fat tree of m-ary switches (docs/papers/hdn, 9); its switches only forward.

Switch (l,w) of level l = 0..h-1 leads down to nodes with the same base-m digits of w except digit
l-1. It leads up to nodes with the same digits except digit l. A hop over the link between levels l
and l+1 thus sets digit l to any value, in either direction.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, shortest_routings
from mpinet.networks.topology import Topology, numbered

ARITY, LEVELS, POWERS = 2, 3, 4
"""Places in the rules' parameters: m, h, and the powers m^0 .. m^h."""

PROCESSOR = -1
"""Level of the processors; (PROCESSOR, p) stands for processor p, with digits p // m."""


@rule
def decide_by_target(node, header, params):
    """Return the port: up by the target's digits while a higher digit is wrong, then down."""
    # The digits of the target's number choose the links up (d-mod-k). Routes to the processors of
    # one switch therefore come down by different links.
    return tree_port(node, header[0], level_and_place(header[0], params)[1], params)


@rule
def decide_by_switch(node, header, params):
    """Return the port: up by the digits of the target's leaf switch, then down."""
    return tree_port_by_switch(node, header[0], params)


@rule
def tree_neighbor(node, port, params):
    """Return the node behind a port of the fat tree, -1 if the port is not wired."""
    m = params[ARITY]
    level, place = level_and_place(node, params)
    if level == PROCESSOR:
        return switch_number(0, place // m, params) if port == 0 else -1
    if port < m:
        if level == 0:
            return place * m + port
        return switch_number(level - 1, with_digit(place, level - 1, port, params), params)
    if level == params[LEVELS] - 1 or port >= 2 * m:
        return -1
    return switch_number(level + 1, with_digit(place, level, port - m, params), params)


@rule
def tree_reverse(node, port, params):
    """Return the port at the other end of a link of the fat tree."""
    m = params[ARITY]
    level, place = level_and_place(node, params)
    if level == PROCESSOR:
        return place % m
    if port < m:
        return 0 if level == 0 else m + digit(place, level - 1, params)
    return digit(place, level, params)


@rule
def tree_class(node, port, params):
    """Return the level of the upper end of a link of the fat tree."""
    level, _ = level_and_place(node, params)
    return level if level >= 0 and port < params[ARITY] else level + 1


class FatTree(Topology):
    """Fat tree of m^h processors and h m^(h-1) switches (after Leiserson 1985).

    Processors come first and have port 0 up. Switch (l,w) has the number m^h + l m^(h-1) + w, the
    ports 0..m-1 down and, below the top level, m..2m-1 up. Each port is numbered by the digit that
    it sets.
    """

    parameters = (whole_number("m", 2), whole_number("h", 1, 62))
    example = "fattree:4,3"
    synonym = "karytree:4,3"
    paper = "textbook"
    specification = "papers/hdn 9"
    default_classes = "none"

    def __init__(self, m: int, h: int):
        # Positions put each switch next to its processors. A subtree is then one run, which the
        # mapping `clusters` can keep on one rank.
        self.cluster_lengths = [(m + h) * m**height for height in reversed(range(h - 1))]
        super().__init__(
            f"{m},{h}",
            size=fat_tree_size(m, h),
            ports=m if h == 1 else 2 * m,
            params=fat_tree_params(m, h),
            hosts=m**h,
            link_classes=numbered("level", h),
        )

    neighbor, reverse_port, link_class = tree_neighbor, tree_reverse, tree_class

    @rule
    def cluster_order(number, direction, params):
        """Return positions in which column w has the processors wm.. and all switches (l,w)."""
        m = params[ARITY]
        column = m + params[LEVELS]
        if direction == 0:
            level, place = level_and_place(number, params)
            if level == PROCESSOR:
                return place // m * column + place % m
            return place * column + m + level
        place = number // column
        row = number - place * column
        return place * m + row if row < m else switch_number(row - m, place, params)

    def _address(self, node: int) -> str:
        """Return the processor's number; ``l,w`` for a switch."""
        return tree_address(node, self.hosts, self.hosts // int(self.params[ARITY]))

    def read_address(self, address: str) -> int:
        """Return the number of the processor or switch with this address."""
        return tree_node(address, self.hosts, self.hosts // int(self.params[ARITY]))

    routings = shortest_routings(dmodk=decide_by_target, updown=decide_by_switch)


class KaryTree(FatTree):
    """k-ary n-tree of k^n processors and n k^(n-1) switches (Petrini, Vanneschi 1997).

    The same network as `FatTree`, under the names that its literature uses.
    """

    parameters = (whole_number("k", 2), whole_number("n", 1, 62))
    example = "karytree:4,2"
    synonym = "fattree:4,2"
    paper = "Petrini, Vanneschi 1997"
    specification = "networks 3"

    def __init__(self, k: int, n: int):
        super().__init__(k, n)


def fat_tree_size(m: int, h: int) -> int:
    """Return the number of processors and switches together."""
    return m**h + h * m ** (h - 1)


def fat_tree_params(m: int, h: int) -> list[int]:
    """Return the rules' parameters without size and ports."""
    return [m, h, *(m**i for i in range(h + 1))]


def tree_address(node: int, hosts: int, width: int) -> str:
    """Return the processor's number, or ``l,w`` for a switch, with `width` switches a level."""
    if node < hosts:
        return str(node)
    level, place = divmod(node - hosts, width)
    return f"{level},{place}"


def tree_node(address: str, hosts: int, width: int) -> int:
    """Return the node with this address: the inverse of `tree_address`."""
    level, comma, place = address.partition(",")
    return hosts + int(level) * width + int(place) if comma else int(level)


@inlined
def level_and_place(node, params):
    """Return (PROCESSOR, p) of processor p, (l, w) of a switch."""
    hosts = params[POWERS + params[LEVELS]]
    if node < hosts:
        return PROCESSOR, node
    width = params[POWERS + params[LEVELS] - 1]
    level = (node - hosts) // width
    return level, node - hosts - level * width


@inlined
def switch_number(level, place, params):
    """Return the node number of switch (level, place)."""
    h = params[LEVELS]
    return params[POWERS + h] + level * params[POWERS + h - 1] + place


@inlined
def digit(place, index, params):
    """Return base-m digit `index` of `place`."""
    return place // params[POWERS + index] % params[ARITY]


@inlined
def with_digit(place, index, value, params):
    """Return `place` with its base-m digit `index` replaced."""
    return place + (value - digit(place, index, params)) * params[POWERS + index]


@inlined
def leaf_or_switch(target, params):
    """Return the place of the target switch, or of the target processor's leaf switch."""
    level, place = level_and_place(target, params)
    return place // params[ARITY] if level == PROCESSOR else place


@inlined
def tree_port(node, target, upward, params):
    """Return the port towards `target` on a shortest path, or `ARRIVED`.

    The path has to pass every link level whose digit differs, and every level between start and
    target. Levels beyond the node's own end of that range come first.

    `upward` has the digits that links up set. On a route to a processor these digits are free,
    because the links down set them again.
    """
    if node == target:
        return ARRIVED
    m = params[ARITY]
    level, place = level_and_place(node, params)
    if level == PROCESSOR:
        return 0
    end_level, end = level_and_place(target, params)
    digits = leaf_or_switch(target, params)
    power = params[POWERS + level]
    above = place // power != digits // power
    below = place % power != digits % power
    # Levels beyond the node's own end of the range are passed first. The route then comes back and
    # leaves the range at the target's end.
    if (above and (level >= end_level or not below)) or (level < end_level and not below):
        # Any link up is right, because links down set all digits again. Only the load depends on
        # the choice.
        return m + digit(upward, level, params)
    return end % m if level == 0 else digit(digits, level - 1, params)


@inlined
def tree_port_by_switch(node, target, params):
    """Return the port towards `target`; links up follow the digits of its leaf switch."""
    return tree_port(node, target, leaf_or_switch(target, params), params)

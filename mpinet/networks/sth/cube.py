"""The hypercube and its variants: 2^n processors with n ports, each port its own reverse port.

* the binary hypercube as one of the kinds of the cube in STH;
* the crossed cube CQ_n (Efe): crossing a dimension twists the pairs of bits below it;
* the twisted cube of Hilbers, Koopman and van de Snepscheut: pairs of bits over one single bit;
* the twisted hypercube TQ_n of the paper (definition 8): one 4-cycle of the hypercube is twisted.
  In the 4-cycle {0,1,2,3} the links 0-1 and 2-3 are replaced by the diagonals 0-3 and 1-2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from mpinet.compiled import Rule, inlined, rule
from mpinet.networks.arithmetic import count_ones, highest_one
from mpinet.networks.binary import MOST_DIMENSIONS, BinaryLabels
from mpinet.networks.classic.hypercube import Hypercube, fix_lowest_bit
from mpinet.networks.parameters import ODD, whole_number
from mpinet.networks.routing import ARRIVED, Routing, lowest_closer_port, stateless
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology
from mpinet.networks.waysback import same_port

LOW_BITS = 0x5555555555555555
"""The lower bit of every pair (2i+1, 2i) of bits."""


class Cube(BinaryLabels):
    """A cube variant of 2^n processors.

    A family defines two routing rules: `shortest_rule` takes the lowest port that leads closer,
    `dimension_rule` corrects the highest wrong bit first.
    """

    shortest_rule: ClassVar[Rule]
    dimension_rule: ClassVar[Rule]

    def __init__(self, n: int):
        self.dimensions = n
        stated = {"degree": n, "diameter": self.stated_diameter(n)}
        super().__init__(f"{n}", size=2**n, ports=n, stated=stated)

    @classmethod
    def stated_diameter(cls, n: int) -> int:
        """Return the diameter that the paper states: ceil((n+1)/2) (lemma 3)."""
        return (n + 2) // 2

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """Routing by the lowest closer port, and by the highest wrong bit (at most n hops)."""
        closer, highest = type(self).shortest_rule, type(self).dimension_rule
        return {
            "shortest": lambda: stateless("shortest", closer, self),
            "dimension": lambda: stateless("dimension", highest, self, shortest=False),
        }

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the broadcast by dimensions, the highest first."""
        return {"dimensions": lambda: dimensions_schedule(self, root)}


@rule
def fix_highest_bit(node, header, params):
    """Return the port of the highest wrong bit, for links that change no higher bits."""
    difference = node ^ header[0]
    return ARRIVED if difference == 0 else highest_one(difference)


@rule
def highest_port_first(node, root, since, step, params):
    """Return port n-s in step s, for every informed processor (section 6, phase 2)."""
    # In these cubes a link of a dimension may change lower bits, never higher ones. From the
    # highest dimension down, each step doubles the informed part.
    return params[1] - step if step <= params[1] else -1


def dimensions_schedule(cube: Topology, root: int) -> Schedule:
    """Return the one-port broadcast for every cube with n ports and every root: n steps."""
    phases = (("cube", cube.ports),)
    return Schedule("dimensions", root, highest_port_first, cube.params, phases)


class BinaryCube(Cube):
    """Hypercube of 2^n processors with the routings of its variants: the kind q."""

    family = "q"
    parameters = (whole_number("n", 1, MOST_DIMENSIONS),)
    paper = "STH (definition 7)"
    specification = "papers/sth 3"

    neighbor = Hypercube.neighbor
    reverse_port = same_port

    shortest_rule = fix_lowest_bit
    dimension_rule = fix_highest_bit

    @classmethod
    def stated_diameter(cls, n: int) -> int:
        """Return n (definition 7)."""
        return n


@rule
def lowest_port(node, header, params):
    """Return the lowest port that leads closer, by Efe's walk (docs/papers/sth, 4).

    Below the highest pair that differs, every pair that does not match costs a hop. Whether a pair
    matches depends on the parity of the hops so far. A port leads closer in two cases: its own pair
    matches after the hop, or the hop makes a lower pair match, which then has a closer port itself.
    """
    difference = node ^ header[0]
    if difference == 0:
        return ARRIVED
    place = highest_one(difference) & -2
    pair = difference >> place
    port = place + (pair == 2)
    # The highest pair takes one hop if one bit is wrong, and two hops if both are wrong. The parity
    # of the hops so far decides if a lower pair matches.
    odd = 1 if pair < 3 else 0
    while place > 0:
        place -= 2
        pair = (difference >> place) & 3
        lower_bit = (node >> place) & 1
        if pair & 1:
            if pair >> 1 == odd & (1 - lower_bit):
                port = place
            odd ^= 1
        elif pair >> 1 != odd & lower_bit:
            port = place + 1
            odd ^= 1
    return port


class CrossedCube(Cube):
    """Crossed cube of 2^n processors (Efe 1992).

    Port i flips bit i, and changes the lower pairs 01 and 11.
    """

    parameters = (whole_number("n", 1, MOST_DIMENSIONS),)
    example = "cq:5"
    paper = "Efe 1992"
    specification = "papers/sth 3"

    @rule
    def neighbor(node, port, params):
        """Return the node with bit `port` and the upper bits of some lower pairs flipped.

        The upper bit is flipped in lower pairs whose lower bit is 1.
        """
        # The lower bits of twisted pairs do not change. The same port therefore undoes the twist.
        below = (1 << (port & -2)) - 1
        return node ^ (1 << port) ^ (((node & LOW_BITS) << 1) & below)

    reverse_port = same_port

    shortest_rule = lowest_port
    dimension_rule = fix_highest_bit


@inlined
def parity_below(node, bit):
    """Return the parity of the bits below bit number `bit`."""
    return count_ones(node & ((1 << bit) - 1)) & 1


@inlined
def hilbers_distance(node, target, params):
    """Return the hops between two processors: one per differing pair, and possibly one more.

    This is the closed form of docs/papers/sth, 4, for all pairs at once. After the route has
    changed a parity, every further pair costs one hop. The pair that changes the parity first may
    cost two.
    """
    difference = node ^ target
    low, high = (difference >> 1) & LOW_BITS, (difference >> 2) & LOW_BITS
    hops = count_ones(low | high)
    if difference & 1:
        return hops + 1
    # One prefix XOR gives the parities of all prefixes. A loop over pairs would recompute each
    # of them.
    odd = odd_prefixes(node)
    changing = (high ^ low) | (low & odd)
    # Only the lowest pair that changes a parity may cost two hops. Every later pair can be
    # corrected in one.
    first = changing & -changing
    return hops + (1 if first & low & ~(high ^ odd) else 0)


@inlined
def odd_prefixes(word):
    """Return the lower bits of pairs up to which the parity is odd."""
    word ^= word << 1
    word ^= word << 2
    word ^= word << 4
    word ^= word << 8
    word ^= word << 16
    word ^= word << 32
    return word & LOW_BITS


@rule
def fix_highest_pair(node, header, params):
    """Return the port that corrects the pair of the highest wrong bit: its lower bit first."""
    difference = node ^ header[0]
    if difference == 0:
        return ARRIVED
    highest = highest_one(difference)
    if highest == 0:
        return 0
    lower = (highest - 1) | 1
    return lower if (difference >> lower) & 1 else lower + 1


class HilbersCube(Cube):
    """Twisted cube of 2^n processors, n odd (Hilbers, Koopman, van de Snepscheut 1987).

    Port i flips bit i. Port 2j-1 also flips bit 2j if the parity of the bits 0..2j-2 is even.
    """

    parameters = (whole_number("n", 1, MOST_DIMENSIONS, kind=ODD),)
    example = "hkv:5"
    paper = "Hilbers, Koopman, van de Snepscheut 1987"
    specification = "papers/sth 3"

    @rule
    def neighbor(node, port, params):
        """Return the node with bit `port` flipped, and possibly the upper bit of its pair."""
        if port & 1 and parity_below(node, port) == 0:
            return node ^ (3 << port)
        return node ^ (1 << port)

    reverse_port = same_port

    shortest_rule = lowest_closer_port.bind(
        "HilbersCube.shortest", wiring=neighbor, distance=hilbers_distance
    )
    dimension_rule = fix_highest_pair


@inlined
def twisted_distance(node, target, params):
    """Return the hops between two processors of the twisted hypercube (docs/papers/sth, 4).

    If the low bits differ by 3, the twist saves a hop, provided that the route can pass the
    4-cycle. If they differ by 1, the twist costs a hop, provided that both nodes are in the
    4-cycle.
    """
    low = (node ^ target) & 3
    hops = count_ones((node ^ target) >> 2)
    if low == 0:
        return hops
    if low == 2:
        return hops + 1
    # Both low bits are wrong. Port 0 corrects both in one hop, if the route passes the 4-cycle.
    if low == 3:
        return hops + (1 if (node >> 2) & (target >> 2) == 0 else 2)
    return hops + (2 if node < 4 and target < 4 else 1)


@rule
def fix_highest_twisted(node, header, params):
    """Return the port of the highest wrong bit; in the 4-cycle the port of the diagonal.

    Inside the 4-cycle the port is 0 for difference 3, and 1 for differences 1 and 2.
    """
    difference = node ^ header[0]
    if difference == 0:
        return ARRIVED
    highest = highest_one(difference)
    if highest >= 2 or node >= 4:
        return highest
    # In the twisted 4-cycle 0-3 and 1-2 are links. Both other differences take two hops, the first
    # of them over port 1.
    return 0 if difference == 3 else 1


class TwistedCube(Cube):
    """Twisted hypercube of 2^n processors (STH, definition 8, after Abuelrub 2007).

    Port i flips bit i, except that port 0 joins 0 to 3 and 1 to 2.
    """

    parameters = (whole_number("n", 2, MOST_DIMENSIONS),)
    example = "tq:4"
    paper = "STH (definition 8)"
    specification = "papers/sth 3"

    @rule
    def neighbor(node, port, params):
        """Return the node with bit `port` flipped, or two bits in the twisted 4-cycle."""
        return node ^ 3 if port == 0 and node < 4 else node ^ (1 << port)

    reverse_port = same_port

    shortest_rule = lowest_closer_port.bind(
        "TwistedCube.shortest", wiring=neighbor, distance=twisted_distance
    )
    dimension_rule = fix_highest_twisted

    @classmethod
    def stated_diameter(cls, n: int) -> int:
        """Return n-1 (definition 8; lemma 3 states another diameter)."""
        return n - 1

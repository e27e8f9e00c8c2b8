"""The block shift network BSN(a,b): all words of n bits, in blocks of 2^b."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from mpinet.compiled import rule
from mpinet.errors import TopologyError
from mpinet.networks.arithmetic import ceil_log2, lowest_one
from mpinet.networks.binary import BinaryLabels
from mpinet.networks.gbsn.broadcast import section_schedule
from mpinet.networks.gbsn.partial import (
    flipped_bits,
    flipping_port,
    least_change,
    partial_port,
    partial_ports,
    subsection_tops,
)
from mpinet.networks.gbsn.words import bits_to_bring, rotated_left, rotated_right, wanted_bits
from mpinet.networks.parameters import Limit, Parameter, integer, require_integer, whole_number
from mpinet.networks.routing import ARRIVED, Routing, stateless
from mpinet.networks.schedule import Schedule

A, SHIFT, BITS, LEFT, TOPS = 2, 3, 4, 5, 6
"""Places in the rules' parameters: a, b, n, the port LEFT (RIGHT follows), and the topmost bits of
the subsections.
"""


@rule
def decide(node, header, params):
    """The GBSN's routing where all blocks are equal (docs/papers/gbsn, 3.3).

    Inside the target's block set the subsections; elsewhere set what the next right shift has to
    bring, and shift.
    """
    a, shift = params[A], params[SHIFT]
    target = header[0]
    if node == target:
        return ARRIVED
    block, goal = node >> shift, target >> shift
    place = node & ((1 << shift) - 1)
    if block == goal:
        return partial_port(place, target & ((1 << shift) - 1), a, params[TOPS])
    block_bits = params[BITS] - shift
    bits = bits_to_bring(block, goal, shift, block_bits)
    wanted = wanted_bits(goal, bits, shift, block_bits)
    # In equal blocks every place is there and no link is missing. So the nearest exit needs no
    # search, as in `nearest_exit`.
    way_out = least_change(place, wanted, max(bits - block_bits, 0), shift, a)
    if place == way_out:
        return params[LEFT] + 1
    return partial_port(place, way_out, a, params[TOPS])


class BlockShift(BinaryLabels):
    """BSN(a,b) of 2^n processors, numbered by their words.

    Ports: subsection after subsection of a bits from the right, in each the patterns 1 .. 2^a - 1
    that a hop flips; then the shifts by b positions LEFT and RIGHT. Routings: ``twsr``, two-way
    shift routing with a counter; ``gbsn``, the stateless routing of the generalized network.
    """

    family = "bsn"
    parameters = (
        Parameter("a", "1..b, a divisor of b", integer),
        whole_number("b", 1, Limit("n", lambda given: given["n"])),
        whole_number("n", 1, 61),
    )
    example = "bsn:2,2,8"
    paper = "GBSN (Pan, Chuang 1997)"
    specification = "papers/gbsn 1"

    def __init__(self, a: int, b: int, n: int):
        require_integer("bsn", "a", a, 1, b)
        if b % a:
            raise TopologyError(f"bsn: a must divide b = {b}; {a} does not.")
        self.a, self.shift, self.bits = a, b, n
        self.sections, self.cluster_lengths = -(-n // b), [1 << b]
        left = partial_ports(b, a)
        super().__init__(
            f"{a},{b},{n}",
            size=2**n,
            ports=left if b == n else left + 2,
            params=[a, b, n, left, subsection_tops(b, a)],
            stated={"degree": (2**a - 1) * b // a + 2},
        )

    @rule
    def neighbor(node, port, params):
        """Set a subsection, or rotate the word; -1 where that changes nothing."""
        left = params[LEFT]
        if port < left:
            return node ^ flipped_bits(port, params[A])
        if port == left:
            other = rotated_left(node, params[SHIFT], params[BITS])
        else:
            other = rotated_right(node, params[SHIFT], params[BITS])
        # Words such as 0101 are kept by some rotations. A loop is no link.
        return other if other != node else -1

    @rule
    def reverse_port(node, port, params):
        """Return the same pattern's port; RIGHT for LEFT and LEFT for RIGHT."""
        left = params[LEFT]
        return port if port < left else 2 * left + 1 - port

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """TWSR; the routing of the GBSN."""
        return {
            "twsr": self._two_way,
            "gbsn": lambda: stateless("gbsn", decide, self, shortest=False),
        }

    ascend_schedules = MappingProxyType(
        {
            "sections": "mpinet.programs.schedules.gbsn:Sections",
            "unaligned": "mpinet.programs.schedules.gbsn:Unaligned",
        }
    )

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Section by section, bit by bit (one-port) or subsection by subsection (all-port)."""
        return {
            "sections": lambda: section_schedule(self, root, "sections", 1),
            "subsections": lambda: section_schedule(self, root, "subsections", self.a),
        }

    def _two_way(self) -> Routing:
        bits = self.bits + ceil_log2(self.sections)
        return Routing(
            name="twsr",
            start=start_two_way,
            decide=decide_two_way,
            params=self.params,
            header_bits=lambda source, target: bits,
            words=2,
            shortest=False,
            stateless=False,
        )


@rule
def start_two_way(source, target, header, params):
    """The target, and no right shifts made so far."""
    header[0] = target
    header[1] = 0


@rule
def decide_two_way(node, header, params):
    """Two-way shift routing (docs/papers/gbsn, 3.1).

    Set the section that lies in the rightmost bits, then shift right to the next one; after the
    last section that differs, shift all the way back to the left. A shift of a word that rotation
    keeps is no hop.
    """
    shift, bits, left = params[SHIFT], params[BITS], params[LEFT]
    moving = rotated_left(node, shift, bits) != node
    # Shifts that change nothing are no hops. The loop passes them without leaving the node.
    while True:
        turned = header[1] * shift
        difference = rotated_left(node, turned, bits) ^ header[0]
        if difference == 0:
            if header[1] == 0:
                return ARRIVED
            header[1] -= 1
            if moving:
                return left
            continue
        # Words are compared in the target's own orientation. So the counter of shifts is the only
        # state in the header.
        section = (difference >> turned) & ((1 << shift) - 1)
        if section != 0:
            return flipping_port(section, lowest_one(section) // params[A], params[A])
        header[1] += 1
        if moving:
            return left + 1

"""The block shift network BSN(a,b): all words of n bits, in blocks of 2^b."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np

from mpinet.compiled import rule
from mpinet.errors import TopologyError
from mpinet.networks.arithmetic import ceil_log2, lowest_one
from mpinet.networks.binary import BinaryLabels
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
from mpinet.networks.schedule import Schedule, ports_from

A, SHIFT, BITS, LEFT, TOPS, STRIDE = range(2, 8)
"""Places in the rules' parameters: a, b, n, the port LEFT (RIGHT follows), the topmost bits of the
subsections, and for schedules the number of bits of a section that one step sets: 1, or a.
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


def section_schedule(network: BlockShift, root: int, name: str, stride: int) -> Schedule:
    """Section after section of the word, a right shift after each but the last.

    Parameters
    ----------
    network : BlockShift
        The BSN.
    root : int
        The processor that starts.
    name : str
        The schedule's name.
    stride : int
        Bits that a step sets: 1 (one-port), or a, over all ports of a subsection (all-port).
    """
    phases = []
    for section in range(network.sections):
        width = min(network.shift, network.bits - section * network.shift)
        phases += [(f"section {section}", -(-width // stride)), (f"shift {section}", 1)]
    return Schedule(
        name=name,
        root=root,
        rule=send_section,
        params=np.append(network.params, stride),
        phases=tuple(phases[:-1]),
        send=1 if stride == 1 else None,
    )


@rule
def send_section(node, root, since, step, params):
    """An active node sets the next bits in all ways, or shifts.

    After t shifts and i bits of the section, those nodes are active whose word, shifted back,
    differs from the root's in bits below t b + i only: who was active and its receivers.
    """
    shift, bits, stride = params[SHIFT], params[BITS], params[STRIDE]
    rounds = (shift + stride - 1) // stride + 1
    section = (step - 1) // rounds
    start = section * shift
    width = min(shift, bits - start)
    low = (step - 1 - section * rounds) * stride
    # The test needs no memory of who was informed. A node is active exactly if its word can have
    # been made of the root's so far.
    if (rotated_left(node, start, bits) ^ root) >> min(start + low, start + width):
        return -1
    if low >= width:
        right = params[LEFT] + 1
        # A rotation may keep a word, such as 00..0. The message then is where it should go, and no
        # link leads there.
        moved = rotated_left(node, shift, bits) != node
        return right if moved else -1
    port = flipping_port(1 << low, low // params[A], params[A])
    # All patterns of a subsection are consecutive ports. In one all-port step the node sets these
    # bits in all ways.
    return ports_from(port, (1 << min(stride, width - low)) - 1)

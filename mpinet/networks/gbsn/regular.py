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
"""Places in the rules' parameters: a, b, n, the port LEFT (RIGHT follows), and the topmost bits of
the subsections. Schedules add the number of bits that one step sets: 1, or a.
"""


@rule
def decide(node, header, params):
    """Return the port of the GBSN's routing, for equal blocks (docs/papers/gbsn, 3.3).

    Inside the target's block the routing sets the subsections. Elsewhere it sets the bits for the
    next right shift, and shifts.
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
    # Equal blocks have every place, and no link is missing. The nearest exit therefore needs no
    # search, unlike in `nearest_exit`.
    way_out = least_change(place, wanted, max(bits - block_bits, 0), shift, a)
    if place == way_out:
        return params[LEFT] + 1
    return partial_port(place, way_out, a, params[TOPS])


class BlockShift(BinaryLabels):
    """Block shift network BSN(a,b) of 2^n processors, numbered by their words.

    Ports: subsection after subsection of a bits from the right, each with the patterns 1 .. 2^a -
    1. A hop flips the pattern. The last ports are the shifts by b positions, LEFT and RIGHT.
    Routings: ``twsr``, two-way shift routing with a counter; ``gbsn``, the stateless routing of the
    generalized network.
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
        """Return the word with a subsection changed or rotated; -1 if rotation keeps the word."""
        left = params[LEFT]
        if port < left:
            return node ^ flipped_bits(port, params[A])
        if port == left:
            other = rotated_left(node, params[SHIFT], params[BITS])
        else:
            other = rotated_right(node, params[SHIFT], params[BITS])
        # Some rotations keep words such as 0101. A self-loop is not a link.
        return other if other != node else -1

    @rule
    def reverse_port(node, port, params):
        """Return the same port for a pattern; RIGHT for LEFT and LEFT for RIGHT."""
        left = params[LEFT]
        return port if port < left else 2 * left + 1 - port

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """Two-way shift routing, and the routing of the GBSN."""
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
        """Return schedules section by section: by bits (one-port), or by subsections (all-port)."""
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
    """Write the target, and a count of 0 right shifts."""
    header[0] = target
    header[1] = 0


@rule
def decide_two_way(node, header, params):
    """Return the next port of two-way shift routing (docs/papers/gbsn, 3.1).

    Set the section in the rightmost bits, then shift right to the next section. After the last
    section that differs, shift all the way back to the left. A shift that keeps the word is no hop.
    """
    shift, bits, left = params[SHIFT], params[BITS], params[LEFT]
    moving = rotated_left(node, shift, bits) != node
    # Shifts that keep the word are no hops. The loop passes them without leaving the node.
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
        # Words are compared in the target's own orientation. The counter of shifts is the only
        # state in the header.
        section = (difference >> turned) & ((1 << shift) - 1)
        if section != 0:
            return flipping_port(section, lowest_one(section) // params[A], params[A])
        header[1] += 1
        if moving:
            return left + 1


def section_schedule(network: BlockShift, root: int, name: str, stride: int) -> Schedule:
    """Return the broadcast by sections of the word, with a right shift after each except the last.

    Parameters
    ----------
    network : BlockShift
        The BSN.
    root : int
        The processor that starts.
    name : str
        The schedule's name.
    stride : int
        Number of bits that a step sets: 1 (one-port), or a, over all ports of a subsection
        (all-port).
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
    """Return the ports that set the next bits of an active node to all patterns, or the port RIGHT.

    After t shifts and i bits of the section, the active nodes are those informed so far. Shifted
    back, their words differ from the root's only in bits below t b + i.
    """
    shift, bits, stride = params[SHIFT], params[BITS], params[STRIDE]
    rounds = (shift + stride - 1) // stride + 1
    section = (step - 1) // rounds
    start = section * shift
    width = min(shift, bits - start)
    low = (step - 1 - section * rounds) * stride
    # The test needs no list of informed nodes. A node is active exactly if the steps so far can
    # have made its word from the root's word.
    if (rotated_left(node, start, bits) ^ root) >> min(start + low, start + width):
        return -1
    if low >= width:
        right = params[LEFT] + 1
        # A rotation may keep a word, such as 00..0. The message is then already at the rotated
        # word, and no link leads there.
        moved = rotated_left(node, shift, bits) != node
        return right if moved else -1
    port = flipping_port(1 << low, low // params[A], params[A])
    # All patterns of a subsection are consecutive ports. In one all-port step the node sets these
    # bits to all patterns.
    return ports_from(port, (1 << min(stride, width - low)) - 1)

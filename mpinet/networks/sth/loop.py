"""The linear loop LST(m): the circulant of 8m processors with the jumps 1 and 4.

The paper's routing compares four candidate walks, which start on ports 0..3, and follows the first
to arrive. Walks 2 and 3 (+1, -1) keep their port. Walks 0 and 1 take their chord while the
target's number is 4 or more higher, then single steps. Comparisons never wrap around the end of the
numbers. The paper's message carries its walk as a list of ports. In the emulator the walk's number
replaces the list, and every node computes the next entry from this number.
"""

from __future__ import annotations

from collections.abc import Callable

from mpinet.compiled import inlined, rule
from mpinet.networks.classic.circulant import JumpNetwork
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, Routing, made_routings, stateless
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology

BACK_4, ON_4, ON, BACK = range(4)
"""The ports of LST(m): -4, +4, +1, -1."""

FIRST, WALK, TARGET = 0, 1, 3
"""Bits of the header's word: whether the first hop remains, the walk's number, the target."""


def candidate_routing(topology: Topology) -> Routing:
    """Return the routing of the paper (section on routing) in LST(m).

    The header is the list of the remaining ports at 2 bits each, and the target's number.
    """
    bits = (topology.size - 1).bit_length()
    return Routing(
        name="paper",
        decide=follow,
        start=choose,
        params=topology.params,
        # The paper's message carries its ports, two bits each. This size is reported, although the
        # emulator stores only the walk's number.
        header_bits=lambda source, target: list_bits(source, target, topology.size) + bits,
        shortest=False,
        stateless=False,
    )


def list_bits(source: int, target: int, size: int) -> int:
    """Return the size in bits of the port list that the source writes."""
    return 2 * chosen_walk(source, target, size)[1]


@inlined
def chosen_walk(source, target, size):
    """Return the number of the walk that arrives first (the highest on a tie), and its hops."""
    ahead = (target - source) % size
    # The highest walk is tried first, and other walks must be shorter. Ties therefore go to the
    # highest number, as in the paper.
    walk, hops = BACK, (source - target) % size
    if ahead < hops:
        walk, hops = ON, ahead
    onward = onward_hops(source, target, size)
    if onward < hops:
        walk, hops = ON_4, onward
    backward = backward_hops(source, target, size)
    if backward < hops:
        walk, hops = BACK_4, backward
    return walk, hops


@inlined
def onward_hops(source, target, size):
    """Return the length of the walk that starts with +4.

    The walk goes up by chords and steps, or down by steps.
    """
    place = source + 4 if source + 4 < size else source + 4 - size
    way = target - place
    # The paper's comparison never wraps around the end of the numbers. A lower target is reached by
    # single steps down.
    return 1 + (way // 4 + way % 4 if way >= 0 else -way)


@inlined
def backward_hops(source, target, size):
    """Return the length of the walk that starts with -4.

    If the target is 4 or more higher, the walk goes down by chords, past 0, to the four highest
    numbers.
    """
    place = source - 4 if source >= 4 else source - 4 + size
    way = target - place
    if way < 4:
        return 1 + abs(way)
    return 2 + place // 4 + abs(target - (size - 4 + place % 4))


@rule
def choose(source, target, header, params):
    """Write the header at the source: the walk to follow and the target."""
    walk, _ = chosen_walk(source, target, params[0])
    header[0] = (target << TARGET) | (walk << WALK) | 1


@rule
def follow(node, header, params):
    """Return the walk's next port."""
    word = header[0]
    way = (word >> TARGET) - node
    if way == 0:
        return ARRIVED
    walk = (word >> WALK) & 3
    if walk >= ON:
        return walk
    # The walk's number determines the first hop. Later hops depend on the distance to the target.
    if (word >> FIRST) & 1:
        header[0] = word - 1
        return walk
    if way >= 4:
        return walk
    return ON if way > 0 else BACK


MOST = 2**57
"""Largest m: a node number, a walk's number and a flag fit into one word."""

PREFIX = "PE_"
"""Prefix of a processor's number in the paper."""


@rule
def decide(node, header, params):
    """Return the port of the shorter direction, by a chord if three or more steps remain.

    A tie goes forward.
    """
    offset = header[0] - node
    if offset == 0:
        return ARRIVED
    ahead = offset if offset > 0 else offset + params[0]
    # Three or more steps cost more than a chord and one step back. A chord is therefore taken from
    # distance 3 on.
    if 2 * ahead <= params[0]:
        return ON_4 if ahead >= 3 else ON
    return BACK_4 if params[0] - ahead >= 3 else BACK


class ChordedLoop(JumpNetwork):
    """Linear loop LST(m) of 8m processors; ports u-4, u+4, u+1, u-1 (mod 8m)."""

    parameters = (whole_number("m", 2, 2**57),)
    example = "lst:3"
    paper = "STH (section 3)"
    specification = "papers/sth 3"

    def __init__(self, m: int):
        self.m = m
        super().__init__(f"{m}", 8 * m, (-4, 1), {"degree": 4, "diameter": m + 1, "links": 16 * m})

    def _address(self, node: int) -> str:
        """Return the address: ``PE_u``."""
        return f"{PREFIX}{node}"

    def read_address(self, address: str) -> int:
        """Return the number of ``PE_u``."""
        return int(address.removeprefix(PREFIX))

    routings = made_routings(
        paper=candidate_routing,
        optimal=lambda self: stateless("optimal", decide, self),
    )
    """The paper's choice among four candidate walks, and the stateless shortest routing."""

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the broadcast along the chords, then to both sides."""
        return {"chords": lambda: loop_schedule(self, root)}


def loop_schedule(topology: Topology, root: int) -> Schedule:
    """Return the one-port broadcast in LST(m): m+2 steps (docs/papers/sth, 6)."""
    phases = (("lst", topology.size // 8 + 2),)
    return Schedule("chords", root, send, topology.params, phases)


@inlined
def chords_and_rest(offset, size):
    """Return chords k in -(m-1)..m and rest e in -1..2 of an offset 4k+e to the source."""
    # Each chord's end serves the nodes from one below to two above it. Shifting by one makes these
    # groups of four.
    place = offset + 1 if offset + 1 < size else 0
    chords = place // 4
    return chords if 8 * chords <= size else chords - size // 4, place % 4 - 1


@rule
def send(node, root, since, step, params):
    """Return the broadcast's port: first chords, then +1 and -1, then +1 once more."""
    size = params[0]
    chords, rest = chords_and_rest((node - root) % size, size)
    turn = step - since
    if node == root:
        # The root has two chords to serve, and its neighbours come last. Chords first double the
        # front of the broadcast.
        return chord_then_sides(turn - 1, BACK_4) if turn > 1 else ON_4
    if rest == 0:
        if chords > 0 and 8 * chords < size:
            return chord_then_sides(turn, ON_4)
        if chords < 0 and 8 * (1 - chords) < size:
            return chord_then_sides(turn, BACK_4)
        return chord_then_sides(turn + 1, BACK_4)
    return ON if rest == 1 and turn == 1 else -1


@inlined
def chord_then_sides(turn, chord):
    """Return the output port in turns 1, 2, 3 of a processor with a chord; then -1."""
    if turn == 1:
        return chord
    if turn == 2:
        return ON
    return BACK if turn == 3 else -1

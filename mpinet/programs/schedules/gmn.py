"""ASCEND and DESCEND on G(m,N), N = 2^q (section 6 of the paper; docs/papers/gmn, 7.4).

Nodes are renumbered so that each cycle begins after a hop of type 0, and this hop closes the cycle.
Neighbouring cycles share a node. The node is slot 0 of one cycle and slot m of the other, with a
register for each.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.networks.gmn.parameters import JUMPS, positions_of
from mpinet.networks.gmn.wiring import MultipleLoops
from mpinet.programs.operators.operator import ASCEND
from mpinet.programs.schedules.moves import Landing, MoveSends, merge
from mpinet.programs.schedules.pipeline import EXTRA, HELD, LEAVING, Pipeline

NO_TYPE = -1
"""Marker in place of a type: no hop at this position."""

RING, HOP, BOTH = ("ring",), ("hop",), ("ring", "hop")
"""Channels of a move: along the ring, over the hops of type 0, or both."""


class Loops(Pipeline):
    """Schedule of G(m,N), m = 2^r, N = m 2^(m/2+1) or m 2^(m/2): 5m + 1 steps, one port 8m + 1.

    The home of element (lambda, p) is (pi(lambda), p), where pi permutes the bits. In step 2 all
    elements of a cycle move through its slots m, m-1, .., 0, m and so on. One of the slots is
    always empty.
    """

    name = "loops"

    def __init__(self, machine: Machine):
        topology = machine.topology.guest or machine.topology
        if not isinstance(topology, MultipleLoops) or topology.size.bit_count() != 1:
            raise UsageError(
                f"The algorithm {self.name} needs G(m,N) with powers of two m and N, as gmn:8,256, "
                f"and is given {topology.name}."
            )
        m = topology.sector
        self._size = topology.size
        self._first = positions_of(m)[0]
        self._types = link_types(topology)
        self._order = bit_order(topology)
        super().__init__(machine, length=m, rounds=2 * m + 2, exchanges=2 * m)

    def place(self, nodes: Ints) -> Ints:
        """Return the slot of nodes in their cycle; 0 for nodes that are also another's slot m."""
        return self._renumbered(nodes) % self.length

    def element(self, nodes: Ints, home: Ints) -> Ints:
        """Return the elements: the cycle's number with bits in logical order, then the slot."""
        cycle = self._renumbered(nodes) // self.length
        logical = np.zeros_like(cycle)
        for j, physical in enumerate(self._order):
            logical |= ((cycle >> physical) & 1) << j
        return logical * self.length + home

    def lateral(self, nodes: Ints) -> Ints:
        """Return the same slots in the cycles that differ in the bit of the link's type."""
        cycle, place = np.divmod(self._renumbered(nodes), self.length)
        other = cycle ^ (1 << np.array(self._types)[place])
        return self._numbered(other * self.length + place)

    def meetings(self, turn: int) -> dict[int, int]:
        """Return the turns of meetings: 1..m for slot 0, and m-p+2, .., 2m-p+1 for slot p."""
        m = self.length
        open_slots = [p for p in range(m) if self._opens(p) <= turn < self._opens(p) + m]
        types = {p: self._types[p] for p in open_slots if self._types[p] != NO_TYPE}
        return {p: self.low_dimensions + self._order.index(t) for p, t in types.items()}

    def home(self, place: int, turn: int) -> int:
        """Return the home slot: one slot up, of m+1, per move so far; m for the empty slot."""
        return (place + turn - 1) % (self.length + 1)

    def circulate(self, turn: int, kind: str, registers: Array) -> None:
        """Move all elements one slot down, from slot 0 to slot m; backwards one slot up.

        With one port, elements first move along the ring, then over hops of type 0.
        """
        leaving = HELD if kind == ASCEND else EXTRA
        registers[LEAVING] = registers[leaving]
        for ways in (RING, HOP) if self.one_port else (BOTH,):
            self._move(ways, turn, kind, registers)

    def _move(self, ways: tuple[str, ...], turn: int, kind: str, registers: Array) -> None:
        """Move elements one slot over the given channels, in one step."""
        sends_of = {"ring": self._along_ring, "hop": self._over_hop}

        def sends() -> MoveSends:
            return merge(*(sends_of[way](turn, kind) for way in ways))

        key = (ways, kind, self._empty(turn, kind))
        self.moves.move(key, registers, sends, self._landing(kind))

    def _along_ring(self, turn: int, kind: str) -> MoveSends:
        """Return the moves between slots s and s-1 for s = 1..m, without the empty slot."""
        m, nodes = self.length, self.nodes
        start = self.places == 0
        if kind == ASCEND:
            slot = np.where(start, m, self.places)
            register, on = np.where(start, EXTRA, HELD), -1
        else:
            slot, register, on = self.places, np.full(len(nodes), HELD), 1
        full = np.flatnonzero(slot != self._empty(turn, kind))
        return MoveSends(full, (nodes[full] + on) % self._size, register[full])

    def _over_hop(self, turn: int, kind: str) -> MoveSends:
        """Return the moves between slot 0 of a cycle and its slot m, at the next cycle's node."""
        slot, jump = (0, self.length) if kind == ASCEND else (self.length, -self.length)
        at = np.flatnonzero(self.places == 0)
        if slot == self._empty(turn, kind):
            at = at[:0]
        return MoveSends(at, (self.nodes[at] + jump) % self._size, LEAVING)

    def _landing(self, kind: str) -> Landing:
        """Return the target registers of messages; slot m is an extra register of slot 0's node."""

        def landing(origins: Ints, receivers: Ints) -> Ints:
            over_hop = (self.place(origins) == 0) & (self.place(receivers) == 0)
            if kind == ASCEND:
                return np.where(over_hop, EXTRA, HELD)
            return np.where((self.place(receivers) == 0) & ~over_hop, EXTRA, HELD)

        return landing

    def _empty(self, turn: int, kind: str) -> int:
        """Return the empty slot: before this move when forwards, after it when backwards."""
        moves = turn - 1 if kind == ASCEND else turn
        return (self.length - moves) % (self.length + 1)

    def _opens(self, place: int) -> int:
        """Return the first turn in which a slot exchanges."""
        return 1 if place == 0 else self.length - place + 2

    def _renumbered(self, nodes: Ints) -> Ints:
        """Return the numbers of nodes, counted from the first hop of type 0."""
        return (nodes - self._first) % self._size

    def _numbered(self, renumbered: Ints) -> Ints:
        """Return the nodes for renumbered numbers, the inverse of `_renumbered`."""
        return (renumbered + self._first) % self._size


def link_types(topology: MultipleLoops) -> list[int]:
    """Return the type t of the link between cycles l and l XOR 2^t at every slot 0..m-1.

    `NO_TYPE` marks slots without a link. For a hop, t is the hop's type. The diagonal has the type
    m/2; the diagonal is unused if the largest hop has the same length.
    """
    m, cycles = topology.sector, topology.size // topology.sector
    first = positions_of(m)[0]
    jumps = [int(topology.params[JUMPS + (p + first) % m]) for p in range(m)]
    types = [(jump // m).bit_length() - 1 if jump else NO_TYPE for jump in jumps]
    if cycles == 1 << (m // 2):
        types[(-first) % m] = NO_TYPE
    return types


def bit_order(topology: MultipleLoops) -> list[int]:
    """Return the permutation pi of the bits of a cycle's number: pi(0), pi(1), .. (Fig. 5).

    From the highest to the lowest logical bit, the values are the types at the slots 1, 2, .., m-1
    and 0. This is the order of an element's visits.
    """
    types = link_types(topology)
    met = [t for t in [*types[1:], types[0]] if t != NO_TYPE]
    return met[::-1]

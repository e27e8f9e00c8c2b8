"""Pseudocode of step 2 as printed (section 6), taken literally at one point at a time.

Item 8 of docs/papers/gmn, 11, lists the points. Everything else is as in the emulator.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.claims import Claim, claim
from mpinet.claims.statement import Predicate
from mpinet.machine.machine import Machine
from mpinet.papers.gmn.ascend import Tangle
from mpinet.papers.gmn.cycles import TWO_HOSTS
from mpinet.papers.gmn.grids import parameters
from mpinet.programs import ascend
from mpinet.programs.operators.operator import ASCEND
from mpinet.programs.schedules.gmn import Loops


class OneWindow(Loops):
    """Item ii: the window m-p+2 <= i <= 2m-p+1 applies to p = 0 as well."""

    def __init__(self, machine: Machine):
        super().__init__(machine)
        # With the printed window the last exchange comes one shift later, so the schedule is one
        # shift longer.
        self._exchanges = 2 * self.length + 1

    def _opens(self, place: int) -> int:
        return self.length - place + 2


class NoDiagonal(Loops):
    """Item i: only nodes of degree 4 take part, so the diagonal is not used."""

    def meetings(self, turn: int) -> dict[int, int]:
        """Return the meetings of a turn without the diagonal."""
        diagonal = max(self._types)
        return {p: j for p, j in super().meetings(turn).items() if self._types[p] != diagonal}


class PermutedBit(Loops):
    """Item iii: bit k of the permuted cycle number selects +h_k or -h_k."""

    def lateral(self, nodes: Ints) -> Ints:
        """Return the node 2^k cycles ahead if that bit is 0, otherwise 2^k cycles back."""
        numbers = self._renumbered(nodes)
        kinds = np.array(self._types)[numbers % self.length]
        permuted = self.element(nodes, np.zeros_like(nodes)) // self.length
        forward = (permuted >> kinds) & 1 == 0
        jumps = np.where(forward, 1, -1) * (self.length << kinds)
        return self._numbered((numbers + jumps) % self._size)


def print_claim(
    id: str,
    statement: str,
    schedule: type[Loops],
    fails_where: tuple[str, Predicate] | None = None,
) -> Claim:
    """Return the claim that step 2 is correct with one point as printed."""
    return claim(
        f"GMN-A-print-{id}",
        place="6",
        statement=f"with {statement} ASCEND gives the serial results",
        relation="all",
        grid=TWO_HOSTS,
        measured=lambda topology: (
            ascend.run(Machine(topology), Tangle(), ASCEND, algorithm=schedule).correct
        ),
        cause="pseudocode",
        fails_where=fails_where,
    )


PRINTED = (
    print_claim("p0", "the printed window also at position 0", OneWindow),
    print_claim("deg4", "nodes of degree 4 alone, as printed,", NoDiagonal),
    print_claim(
        "bit",
        "the printed choice of +h or -h by a bit of the permuted number",
        PermutedBit,
        ("m > 4", lambda topology: parameters(topology)[0] > 4),
    ),
)
"""Claims on the printed pseudocode, one point at a time."""

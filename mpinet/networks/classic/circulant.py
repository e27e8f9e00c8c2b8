"""Circulants: networks in which every processor u has links to u + j and u - j (mod N).

Port rule of docs/papers/gmn, 9: the listed targets in order, without self-loops and later
repetitions. The same targets are dropped at all processors, and the remaining jumps are
parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd

from mpinet.compiled import rule
from mpinet.errors import TopologyError
from mpinet.networks.cycle import Cycle, ring_cycle
from mpinet.networks.parameters import Limit, Parameter, dashed, require_integer, whole_number
from mpinet.networks.routing import made_routings
from mpinet.networks.shortest import decide_by_difference, table_routing
from mpinet.networks.topology import EXCHANGE, Topology

JUMPS = 2
"""Place of the ports' jumps in the rules' parameters; the reverse ports follow."""


class JumpNetwork(Topology):
    """Base of the circulant graphs: port i leads to u + jump i (mod N)."""

    def __init__(
        self, arguments: str, N: int, jumps: Iterable[int], stated: dict[str, int] | None = None
    ):
        offsets = both_ways(N, jumps)
        params = [*offsets, *(offsets.index(N - offset) for offset in offsets)]
        super().__init__(arguments, size=N, ports=len(offsets), params=params, stated=stated)

    @rule
    def neighbor(node, port, params):
        """Return the processor at the distance of the port's jump."""
        # Subtracting N first keeps the sum within 64 bits for the largest networks.
        other = node - params[0] + params[JUMPS + port]
        return other if other >= 0 else other + params[0]

    @rule
    def reverse_port(node, port, params):
        """Return the port of the opposite jump."""
        return params[JUMPS + params[1] + port]

    routings = made_routings(shortest=lambda self: table_routing(self, decide_by_difference, 1))
    """Shortest paths by one table: all processors are equivalent."""

    def cycle(self) -> Cycle | None:
        """Hamiltonian cycle by a jump without a common divisor with N, else found by search."""
        for port, jump in enumerate(self.params[JUMPS : JUMPS + self.ports].tolist()):
            # A jump without a common divisor with N visits all nodes before it returns. No
            # table is needed then.
            if gcd(self.size, jump) == 1:
                return ring_cycle(self.params, port)
        return super().cycle()


class Circulant(JumpNetwork):
    """Circulant of N processors with a set of jumps (Boesch, Wang 1984).

    Ports: u+j, u-j for every jump.
    """

    parameters = (
        whole_number("N", 2),
        Parameter("jumps", "distinct, 1..N/2, joined by -", dashed),
    )
    example = "circulant:16,jumps=1-4"
    paper = "textbook"
    specification = "papers/gmn 9"

    def __init__(self, N: int, jumps: Sequence[int]):
        if not jumps or len(set(jumps)) != len(jumps):
            raise TopologyError(f"circulant: jumps must be distinct, not {jumps_text(jumps)!r}.")
        for jump in jumps:
            require_integer("circulant", "a jump", jump, 1, N // 2)
        # Jumps that share a divisor with N never leave a residue class. The network would have
        # as many components.
        divisor = gcd(N, *jumps)
        if divisor > 1:
            raise TopologyError(
                f"circulant: N = {N} and the jumps {jumps_text(jumps)} have the common divisor "
                f"{divisor}: the network would be disconnected; add another jump."
            )
        super().__init__(f"{N},jumps={jumps_text(jumps)}", N, jumps)


class RecursiveCirculant(JumpNetwork):
    """Recursive circulant: the jumps are the powers of d below N (Park, Chwa 1994)."""

    parameters = (whole_number("N", 3), whole_number("d", 2))
    example = "rcirculant:16,4"
    paper = "Park, Chwa"
    specification = "papers/gmn 9"

    def __init__(self, N: int, d: int):
        self.has_partners = d == 2 and N.bit_count() == 1
        stated = {"degree": 2 * (N.bit_length() - 1) - 1} if self.has_partners else {}
        super().__init__(f"{N},{d}", N, powers_below(N, d), stated)

    @property
    def ascend_schedules(self) -> Mapping[str, str]:
        """Schedule `exchange` for d = 2 and 2^q processors, whose partners are neighbours."""
        return EXCHANGE if self.has_partners else {}


class DoubleLoop(JumpNetwork):
    """Double loop, or distributed loop (Bermond, Tzvieli 1991); ports u+1, u-1, u+s, u-s."""

    parameters = (
        whole_number("N", 5),
        whole_number("s", 2, Limit("(N-1)/2", lambda given: (given["N"] - 1) // 2)),
    )
    example = "doubleloop:16,4"
    paper = "Bermond, Tzvieli"
    specification = "papers/gmn 9"

    def __init__(self, N: int, s: int):
        super().__init__(f"{N},{s}", N, (1, s), {"degree": 4})


def both_ways(N: int, jumps: Iterable[int]) -> list[int]:
    """Return the jumps forward and backward (mod N) in order, without later repetitions."""
    return list(dict.fromkeys(offset % N for jump in jumps for offset in (jump, -jump)))


def powers_below(N: int, d: int) -> list[int]:
    """Return the powers 1, d, d^2 and so on below N."""
    powers = [1]
    while powers[-1] * d < N:
        powers.append(powers[-1] * d)
    return powers


def jumps_text(jumps: Sequence[int]) -> str:
    """Return jumps in the notation of topology strings."""
    return "-".join(map(str, jumps))

"""The double-loop hypercube DLH(m,n), compared with the STH: C_2m times K_2 times Q_n."""

from __future__ import annotations

from mpinet.networks.classic.hypercube import Hypercube
from mpinet.networks.classic.ring import Ring
from mpinet.networks.namedproduct import NamedProduct
from mpinet.networks.parameters import whole_number
from mpinet.networks.topology import Topology


class DoubleLoopHypercube(NamedProduct):
    """Double-loop hypercube DLH(m,n) of m 2^(n+2) processors (r,l,x) (Liu, Han, Du 2008).

    Ports: r+1, r-1, flip l, flip the bits of x.

    The loop l and the label x are the n+1 bits 2x+l of one hypercube.
    """

    family = "dlh"
    parameters = (whole_number("m", 2, 2**57), whole_number("n", 0, 56))
    example = "dlh:3,2"
    paper = "Youyao et al. 2008; STH (table 4)"
    specification = "papers/sth 2, 3"
    brackets, lowest_first = ("(", ")"), True
    address, read_address = Topology.address, Topology.read_address

    def __init__(self, m: int, n: int):
        self.m = m
        self.dimensions = n
        self.radices = (2**n, 2, 2 * m)
        super().__init__(f"{m},{n}", Ring(2 * m), Hypercube(n + 1))

    @property
    def stated(self) -> dict[str, int]:
        """Degree n+3, diameter m+n+1, m 2^(n+1) (n+3) links (table 4)."""
        m, n = self.m, self.dimensions
        return {"degree": n + 3, "diameter": m + n + 1, "links": (n + 3) * m << (n + 1)}

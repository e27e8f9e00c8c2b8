"""Products named in the STH paper: of hypercube, ring, mesh, star graph and arrangement graph."""

from __future__ import annotations

from mpinet.compiled import rule
from mpinet.errors import TopologyError
from mpinet.networks.classic.hypercube import Hypercube
from mpinet.networks.classic.permutations import Arrangement, StarGraph
from mpinet.networks.classic.ring import Ring
from mpinet.networks.parameters import Limit, Parameter, integer, whole_number
from mpinet.networks.product import NamedProduct
from mpinet.networks.routing import ARRIVED, shortest_routings
from mpinet.networks.topology import Topology
from mpinet.networks.waysback import other_of_pair

COLUMNS = 2
"""Place in the lattice's parameters: c, the number of columns."""

UP, DOWN, LEFT, RIGHT = range(4)
"""The lattice's ports: i-1, i+1, j-1, j+1."""


class StarCube(NamedProduct):
    """Star-hypercube: the star graph of n symbols times the hypercube of m dimensions.

    Zheng, Cong, Bettayeb 1993.
    """

    parameters = (whole_number("n", 2, 15), whole_number("m", 1, 57))
    example = "starcube:4,3"
    paper = "Zheng, Cong, Bettayeb 1993"
    specification = "papers/sth 8"

    def __init__(self, n: int, m: int):
        super().__init__(f"{n},{m}", StarGraph(n), Hypercube(m))


class ArrangementStar(NamedProduct):
    """Arrangement-star: the star graph of s symbols times the arrangement graph A(n,k).

    Awwad, Al-Ayyoub, Ould-Khaoua 2003.
    """

    parameters = (
        whole_number("s", 2, 15),
        whole_number("n", 2),
        whole_number("k", 1, Limit("n-1", lambda given: given["n"] - 1)),
    )
    example = "arrstar:3,4,2"
    paper = "Awwad, Al-Ayyoub, Ould-Khaoua 2003"
    specification = "papers/sth 8"

    def __init__(self, s: int, n: int, k: int):
        super().__init__(f"{s},{n},{k}", StarGraph(s), Arrangement(n, k))


class HyperMesh(NamedProduct):
    """Hyper-mesh: the mesh of r rows and c columns times the hypercube of n dimensions.

    Abuelrub 2002.
    """

    parameters = (
        Parameter("r", ">= 1, r*c >= 2", integer, least=1),
        whole_number("c", 1),
        whole_number("n", 1, 57),
    )
    example = "hypermesh:2,3,2"
    paper = "Abuelrub 2002"
    specification = "papers/sth 8"

    def __init__(self, r: int, c: int, n: int):
        if r * c < 2:
            raise TopologyError("hypermesh: r*c must be >= 2, not 1.")
        super().__init__(f"{r},{c},{n}", Lattice(r, c), Hypercube(n))


@rule
def decide_lattice(node, header, params):
    """Return the lowest port that leads closer."""
    columns = params[COLUMNS]
    row, target_row = node // columns, header[0] // columns
    if row != target_row:
        return UP if target_row < row else DOWN
    if node == header[0]:
        return ARRIVED
    return LEFT if header[0] < node else RIGHT


class DoubleLoopHypercube(NamedProduct):
    """Double-loop hypercube DLH(m,n) of m 2^(n+2) processors (r,l,x) (Liu, Han, Du 2008).

    Ports: r+1, r-1, flip l, flip the bits of x.

    The loop l and the label x are the n+1 bits 2x+l of one hypercube.
    """

    parameters = (whole_number("m", 2, 2**57), whole_number("n", 0, 56))
    example = "dlh:3,2"
    paper = "Youyao et al. 2008; STH (table 4)"
    specification = "papers/sth 2, 3"
    # The product has the slow factor last in its number. The paper writes the loop first.
    brackets, lowest_first = ("(", ")"), True
    # A product would join its factors' addresses by bars. This family has an address of its own.
    _address, read_address = Topology._address, Topology.read_address

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


class Lattice(Topology):
    """Mesh of the hyper-mesh, with places i*c + j; ports i-1, i+1, j-1, j+1.

    Ports beyond the border are not wired.
    """

    family = "lattice"

    def __init__(self, r: int, c: int):
        self.columns = c
        self.radices = (r, c)
        stated = {"diameter": r + c - 2}
        super().__init__(f"{r},{c}", size=r * c, ports=4, params=[c], stated=stated)

    @rule
    def neighbor(node, port, params):
        """Return the next processor along the row or column; -1 beyond the border."""
        columns = params[COLUMNS]
        if port == UP:
            return node - columns if node >= columns else -1
        if port == DOWN:
            return node + columns if node + columns < params[0] else -1
        column = node % columns
        if port == LEFT:
            return node - 1 if column > 0 else -1
        return node + 1 if column < columns - 1 else -1

    reverse_port = other_of_pair

    @rule
    def link_class(node, port, params):
        """Return 0 along columns, 1 along rows."""
        return port // 2

    link_classes = ("columns", "rows")

    routings = shortest_routings(shortest=decide_lattice)

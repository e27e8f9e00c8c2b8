"""Networks at which the claims are tested, with parameters named as in the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from math import ceil, log2, prod

from mpinet.claims import PointGrid, points
from mpinet.claims.remembered import remembered

Members = tuple[int, ...]
Factor = tuple[str, int]


@dataclass(frozen=True)
class Net:
    """HDN(B,k,S) for the formulas of claims; nothing here is measured."""

    base: tuple[Factor, ...]
    """Kind (C ring, K complete graph) and size of each factor; C2 is K2."""
    members: tuple[Members, ...]
    """Factors of each level's super-node."""

    @property
    def k(self) -> int:
        """Number of levels."""
        return len(self.members)

    @property
    def all(self) -> Members:
        """All factors."""
        return tuple(range(len(self.base)))

    def s(self, level: int) -> int:
        """Return the number of nodes of a level's super-node."""
        return prod(self.base[j][1] for j in self.members[level - 1])

    def nodes(self, level: int) -> int:
        """Return the number of nodes of HDN(B,level,S): N_0, then N_i = 2 N_{i-1}^2 / s_i."""
        nodes = prod(size for _, size in self.base)
        for i in range(1, level + 1):
            nodes = 2 * nodes**2 // self.s(i)
        return nodes

    def n(self, level: int) -> int:
        """Return the number of super-nodes in a cluster: N_{i-1} / s_i."""
        return self.nodes(level - 1) // self.s(level)

    @property
    def degree(self) -> int:
        """Degree d_0 of B as a simple graph."""
        # A ring of two nodes has one link. The paper's tables count both directions of this link.
        return sum(size - 1 if kind == "K" or size == 2 else 2 for kind, size in self.base)

    def diameter(self, members: Members) -> int:
        """Return the diameter of a sub-product: n//2 per ring plus 1 per complete graph."""
        return sum(1 if kind == "K" else size // 2 for kind, size in self.parts(members))

    def broadcast(self, members: Members) -> int:
        """Return the steps of a broadcast along the factors of a sub-product, one after another."""
        return sum(
            ceil(log2(size)) if kind == "K" else ceil(size / 2)
            for kind, size in self.parts(members)
        )

    def parts(self, members: Members) -> list[Factor]:
        """Return the factors of a sub-product."""
        return [self.base[j] for j in members]

    def closed_form(self, cost: Callable[[Members], int]) -> int:
        """Return the theorems' 2^k c(B) - sum of 2^j c(SN^{k-j}) + 2^(k+1) - 2 for a cost c."""
        inside = sum(2**j * cost(self.members[self.k - j - 1]) for j in range(self.k))
        return 2**self.k * cost(self.all) - inside + 2 ** (self.k + 1) - 2

    @property
    def lower(self) -> Net:
        """Cluster HDN(B,k-1,S)."""
        return Net(self.base, self.members[:-1])

    @property
    def name(self) -> str:
        """Topology string."""
        factors = "x".join(str(size) if kind == "C" else f"K{size}" for kind, size in self.base)
        levels = "/".join(map(members_text, self.members))
        return f"hdn:{factors},super={levels}" if levels else f"hdn:{factors}"


def members_text(members: Members) -> str:
    """Return a super-node in the form of topology strings."""
    return ".".join(map(str, members)) or "-"


def read_members(text: str) -> Members:
    """Return the factors of a super-node, read from text."""
    return () if text == "-" else tuple(map(int, text.split(".")))


def read_base(text: str) -> tuple[Factor, ...]:
    """Return the factors of a base, read from text."""
    parts = text.split("x")
    return tuple(("K", int(p[1:])) if p[0] == "K" else ("C", int(p)) for p in parts)


@remembered(most=1024)
def net(topology: str) -> Net:
    """Return the parameters of a topology string ``hdn:..`` or ``rdn:..``."""
    family, _, arguments = topology.partition(":")
    base, _, levels = arguments.partition(",")
    if family == "rdn":
        return Net(read_base(base), ((),) * int(levels))
    texts = levels.removeprefix("super=").split("/") if levels else []
    return Net(read_base(base), tuple(map(read_members, texts)))


def covers_base(topology: str) -> bool:
    """Return whether SN^1 is the whole base, a degenerate case that links two copies of B."""
    found = net(topology)
    return found.k > 0 and found.members[0] == found.all


def is_not_nested(topology: str) -> bool:
    """Return whether some level's super-node does not contain the super-node of the level below."""
    return any(set(low) - set(high) for low, high in pairwise(net(topology).members))


def number_in(topology: str) -> int:
    """Return the n of a family with one parameter, such as ``ring:7``."""
    return int(topology.partition(":")[2])


def size_of(topology: str) -> int:
    """Return the number of nodes by the recurrence."""
    return net(topology).nodes(net(topology).k)


def pairs_of(topology: str) -> float:
    """Return the cost of a claim about all pairs of nodes, in milliseconds."""
    return size_of(topology) ** 2 / 3000


def nodes_of(topology: str) -> float:
    """Return the estimated milliseconds to test a claim about all nodes of a network."""
    return size_of(topology) / 50


def swept_of(topology: str) -> float:
    """Return the cost of a claim that sweeps a network, possibly a large one, in milliseconds."""
    return size_of(topology) / 400


def sub_products(base: str) -> list[Members]:
    """Return all possible super-nodes of a base."""
    r = len(read_base(base))
    return [members for q in range(r + 1) for members in combinations(range(r), q)]


def nets_over(base: str, k: int, most: int) -> Iterator[str]:
    """Yield HDN(B,k,S) with up to `most` nodes, for all S."""
    for members in product(sub_products(base), repeat=k):
        found = Net(read_base(base), members)
        if found.nodes(k) <= most:
            yield found.name


def listed(names: Iterator[str] | list[str]) -> list[dict[str, str]]:
    """Return networks as points, smallest first."""
    # Smallest first, because a witness should be small enough to draw.
    return [{"topology": name} for name in sorted(set(names), key=lambda n: (size_of(n), n))]


BASES = ("2", "3", "4", "5", "6", "K4", "2x2", "2x3", "3x3", "2x2x2")
"""Bases of the range R1 of docs/papers/hdn, 11."""

TORUS = "2x3x5"
"""Base of the paper's tables and examples."""

MOST = 1100
"""Largest number of nodes of a network of range R1."""

FIG10 = "hdn:2x3x5,super=0.1"
FIG11 = "hdn:2x3x5,super=0.1/1.2"
"""Networks of Figures 10 and 11 and of the example in Section 4."""


@remembered(most=1)
def r1() -> tuple[str, ...]:
    """Return all S with N <= 1100 for the bases with one and two levels; K2 also with three."""
    kinds = [(base, k) for base in BASES for k in (1, 2)] + [("2", 3), (TORUS, 1)]
    return tuple(name for base, k in kinds for name in nets_over(base, k, MOST))


R2_NAMES = (
    *(f"hdn:2,super={levels}" for levels in ("-/-/0", "-/0/-", "-/0/0", "0/-/-")),
    *(f"hdn:{n},super=-/0" for n in (7, 8, 9, 11)),
    *(f"hdn:3,super={levels}" for levels in ("0/-/-", "0/-/0", "0/0/-")),
    *(f"hdn:2x2,super={levels}" for levels in ("0/0.1/0.1", "0.1/0/0", "0.1/0/1", "0.1/-/0")),
    *(f"hdn:2x3,super={levels}" for levels in ("0.1/0.1/0", "0.1/0/1", "1/0.1/0.1")),
    *(f"hdn:{base},super={s}" for base in ("3x5", "2x5") for s in ("0/1", "0/0.1", "1/0", "1/0.1")),
    *(f"hdn:{base},super=-/-" for base in ("2x2", "K4", "4")),
    *(
        f"hdn:2x3x5,super={levels}"
        for levels in ("0.1/1.2", "1.2/0", "2/1.2", "0.2/2", "0.1/0.1.2")
    ),
)
"""Networks of range R2 (docs/papers/hdn, 11)."""

QUICK = 520
"""Largest number of nodes in the quick budget of a claim about all pairs."""


def is_small(topology: str) -> bool:
    """Return whether the quick budget includes all pairs of a network."""
    return size_of(topology) <= QUICK


def of_r1(chosen: Callable[[Net], bool] = lambda found: True, most: int = MOST) -> list[str]:
    """Return the networks of R1 with up to `most` nodes that satisfy `chosen`."""
    return [name for name in r1() if chosen(net(name)) and size_of(name) <= most]


def within_r1(text: str, chosen: Callable[[Net], bool], most: int = MOST) -> PointGrid:
    """Return the grid of some networks of R1; the quick budget ends at `QUICK` nodes."""
    return points(f"R1, {text}", lambda: listed(of_r1(chosen, most))).quick(is_small)


R1 = points(f"R1: all S with N <= {MOST}, 22 bases and levels", lambda: listed([*r1()]))
"""Grid of R1, complete even in the quick budget."""

R1_BY_SIZE = R1.quick(is_small)

R1_TO_300 = points("R1 with N <= 300", lambda: listed(of_r1(most=300))).quick(is_small)

R1_AND_R2 = points(
    "R1, and R2: 34 networks of up to 17280 nodes", lambda: listed([*r1(), *R2_NAMES])
).quick(lambda topology: size_of(topology) <= 3000)


def table_1() -> list[str]:
    """Return the networks of Table 1."""
    return [name for k in (1, 2) for name in nets_over(TORUS, k, 10**8)]


def rdns() -> list[str]:
    """Return the range R3 of docs/papers/hdn, 11."""
    bases = ("2", "3", "4", "5", "6", "7", "K4", "2x2", "2x2x2", "3x3", TORUS)
    names = [f"rdn:{base},{k}" for base in bases for k in (1, 2)]
    return [name for name in names if size_of(name) <= 20000]


def sized(sizes: tuple[int, ...]) -> str:
    """Return the network over the 2x3x5 torus with super-nodes of these sizes."""
    by_size = {prod((2, 3, 5)[j] for j in members): members for members in sub_products(TORUS)}
    return Net(read_base(TORUS), tuple(by_size[size] for size in sizes)).name

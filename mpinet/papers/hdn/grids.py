"""The networks at which the claims are tested, and their parameters as the paper names them."""

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
    """HDN(B,k,S), as a claim's formula needs it: nothing here is measured."""

    base: tuple[Factor, ...]
    """Kind (C ring, K complete graph) and size of each factor; C2 is K2."""
    members: tuple[Members, ...]
    """The factors of each level's super-node."""

    @property
    def k(self) -> int:
        """The number of levels."""
        return len(self.members)

    @property
    def all(self) -> Members:
        """All factors."""
        return tuple(range(len(self.base)))

    def s(self, level: int) -> int:
        """Nodes of the super-node of a level."""
        return prod(self.base[j][1] for j in self.members[level - 1])

    def nodes(self, level: int) -> int:
        """Nodes of HDN(B,level,S): N_0, then N_i = 2 N_{i-1}^2 / s_i."""
        nodes = prod(size for _, size in self.base)
        for i in range(1, level + 1):
            nodes = 2 * nodes**2 // self.s(i)
        return nodes

    def n(self, level: int) -> int:
        """Super-nodes in a cluster: N_{i-1} / s_i."""
        return self.nodes(level - 1) // self.s(level)

    @property
    def degree(self) -> int:
        """d_0, of B as a simple graph."""
        # A ring of two nodes is one link. The paper counts both of its directions in its tables.
        return sum(size - 1 if kind == "K" or size == 2 else 2 for kind, size in self.base)

    def diameter(self, members: Members) -> int:
        """Diameter of a sub-product: rings n//2, complete graphs 1, added."""
        return sum(1 if kind == "K" else size // 2 for kind, size in self.parts(members))

    def broadcast(self, members: Members) -> int:
        """Steps of a broadcast along the factors of a sub-product, one after the other."""
        return sum(
            ceil(log2(size)) if kind == "K" else ceil(size / 2)
            for kind, size in self.parts(members)
        )

    def parts(self, members: Members) -> list[Factor]:
        """Some of the factors."""
        return [self.base[j] for j in members]

    def closed_form(self, cost: Callable[[Members], int]) -> int:
        """2^k c(B) - sum of 2^j c(SN^{k-j}) + 2^(k+1) - 2, as in Theorems 1, 2 and 3."""
        inside = sum(2**j * cost(self.members[self.k - j - 1]) for j in range(self.k))
        return 2**self.k * cost(self.all) - inside + 2 ** (self.k + 1) - 2

    @property
    def lower(self) -> Net:
        """HDN(B,k-1,S), the cluster."""
        return Net(self.base, self.members[:-1])

    @property
    def name(self) -> str:
        """The topology string."""
        factors = "x".join(str(size) if kind == "C" else f"K{size}" for kind, size in self.base)
        levels = "/".join(map(members_text, self.members))
        return f"hdn:{factors},super={levels}" if levels else f"hdn:{factors}"


def members_text(members: Members) -> str:
    """A super-node as topology strings have it."""
    return ".".join(map(str, members)) or "-"


def read_members(text: str) -> Members:
    """The factors of a super-node."""
    return () if text == "-" else tuple(map(int, text.split(".")))


def read_base(text: str) -> tuple[Factor, ...]:
    """The factors of a base."""
    parts = text.split("x")
    return tuple(("K", int(p[1:])) if p[0] == "K" else ("C", int(p)) for p in parts)


@remembered(most=1024)
def net(topology: str) -> Net:
    """The parameters of a topology string ``hdn:..`` or ``rdn:..``."""
    family, _, arguments = topology.partition(":")
    base, _, levels = arguments.partition(",")
    if family == "rdn":
        return Net(read_base(base), ((),) * int(levels))
    texts = levels.removeprefix("super=").split("/") if levels else []
    return Net(read_base(base), tuple(map(read_members, texts)))


def covers_base(topology: str) -> bool:
    """Tell if SN^1 is the whole base: what the paper hardly meant, for it joins two copies of B."""
    found = net(topology)
    return found.k > 0 and found.members[0] == found.all


def is_not_nested(topology: str) -> bool:
    """Tell if some level's super-node does not contain that of the level below."""
    return any(set(low) - set(high) for low, high in pairwise(net(topology).members))


def number_in(topology: str) -> int:
    """The n of a family with one parameter: ``ring:7``."""
    return int(topology.partition(":")[2])


def size_of(topology: str) -> int:
    """The number of nodes, by the recurrence."""
    return net(topology).nodes(net(topology).k)


def pairs_of(topology: str) -> float:
    """About the milliseconds of a claim that looks at all pairs of nodes."""
    return size_of(topology) ** 2 / 3000


def nodes_of(topology: str) -> float:
    """About the milliseconds of a claim that looks at all nodes."""
    return size_of(topology) / 50


def swept_of(topology: str) -> float:
    """About the milliseconds of a claim about a network, maybe a large one, that is swept."""
    return size_of(topology) / 400


def sub_products(base: str) -> list[Members]:
    """All super-nodes of a base."""
    r = len(read_base(base))
    return [members for q in range(r + 1) for members in combinations(range(r), q)]


def nets_over(base: str, k: int, most: int) -> Iterator[str]:
    """HDN(B,k,S) for all S, of up to `most` nodes."""
    for members in product(sub_products(base), repeat=k):
        found = Net(read_base(base), members)
        if found.nodes(k) <= most:
            yield found.name


def listed(names: Iterator[str] | list[str]) -> list[dict[str, str]]:
    """Networks as points, the smallest first."""
    # Smallest first, as a witness should be one that a reader can draw.
    return [{"topology": name} for name in sorted(set(names), key=lambda n: (size_of(n), n))]


BASES = ("2", "3", "4", "5", "6", "K4", "2x2", "2x3", "3x3", "2x2x2")
"""The bases of the range R1 of docs/papers/hdn, 11."""

TORUS = "2x3x5"
"""The base of the paper's tables and examples."""

MOST = 1100
"""Most nodes of a network of range R1."""

FIG10 = "hdn:2x3x5,super=0.1"
FIG11 = "hdn:2x3x5,super=0.1/1.2"
"""The networks of Figures 10 and 11 and of the example in Section 4."""


@remembered(most=1)
def r1() -> tuple[str, ...]:
    """All S with N <= 1100 for the bases with one and two levels; K2 also with three."""
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
"""The range R2 of docs/papers/hdn, 11."""

QUICK = 520
"""Most nodes of a network that the quick budget looks at where all pairs are tried."""


def is_small(topology: str) -> bool:
    """Tell if the quick budget looks at all its pairs."""
    return size_of(topology) <= QUICK


def of_r1(chosen: Callable[[Net], bool] = lambda found: True, most: int = MOST) -> list[str]:
    """The networks of R1 that are chosen, of up to `most` nodes."""
    return [name for name in r1() if chosen(net(name)) and size_of(name) <= most]


def within_r1(text: str, chosen: Callable[[Net], bool], most: int = MOST) -> PointGrid:
    """Some networks of R1; the quick budget takes those of up to `QUICK` nodes."""
    return points(f"R1, {text}", lambda: listed(of_r1(chosen, most))).quick(is_small)


R1 = points(f"R1: all S with N <= {MOST}, 22 bases and levels", lambda: listed([*r1()]))
"""All of R1 in the quick budget, too."""

R1_BY_SIZE = R1.quick(is_small)

R1_TO_300 = points("R1 with N <= 300", lambda: listed(of_r1(most=300))).quick(is_small)

R1_AND_R2 = points(
    "R1, and R2: 34 networks of up to 17280 nodes", lambda: listed([*r1(), *R2_NAMES])
).quick(lambda topology: size_of(topology) <= 3000)


def table_1() -> list[str]:
    """The networks of Table 1."""
    return [name for k in (1, 2) for name in nets_over(TORUS, k, 10**8)]


def rdns() -> list[str]:
    """The range R3 of docs/papers/hdn, 11."""
    bases = ("2", "3", "4", "5", "6", "7", "K4", "2x2", "2x2x2", "3x3", TORUS)
    names = [f"rdn:{base},{k}" for base in bases for k in (1, 2)]
    return [name for name in names if size_of(name) <= 20000]


def sized(sizes: tuple[int, ...]) -> str:
    """The network over the 2x3x5 torus with super-nodes of these sizes."""
    by_size = {prod((2, 3, 5)[j] for j in members): members for members in sub_products(TORUS)}
    return Net(read_base(TORUS), tuple(by_size[size] for size in sizes)).name

"""The diameter (Section 3: quotient, recurrence, Theorem 1, Table 2)."""

from __future__ import annotations

from itertools import product

from mpinet import measure
from mpinet.claims import Corrected, Measured, claim, points
from mpinet.papers.hdn.built import quotient
from mpinet.papers.hdn.grids import (
    R1,
    R1_AND_R2,
    Net,
    covers_base,
    members_text,
    net,
    nodes_of,
    pairs_of,
    read_base,
    read_members,
    size_of,
    sub_products,
)
from mpinet.papers.hdn.measured import degree, diameter
from mpinet.papers.hdn.measured import diameter as measured_diameter
from mpinet.papers.hdn.sizes import INNER, closed_form
from mpinet.papers.sweeps import reached


def quotients() -> list[dict[str, str]]:
    """Return points of HDN(B,i-1,S) and a super-node: i = 1, 2 for five bases, i = 3 for K2."""
    kinds = [(base, i) for base in ("2", "3", "5", "2x2", "2x3") for i in (1, 2)] + [("2", 3)]
    found = [
        {"topology": Net(read_base(base), members).name, "members": members_text(inner)}
        for base, i in kinds
        for members in product(sub_products(base), repeat=i - 1)
        for inner in sub_products(base)
    ]
    return sorted(found, key=lambda point: (size_of(point["topology"]), *point.values()))


def is_outside(topology: str, members: str) -> bool:
    """Return whether a super-node is not contained in the super-node of every level."""
    inner = set(read_members(members))
    return any(inner - set(below) for below in net(topology).members)


@claim(
    "HDN-S3-quotient-diameter",
    claimed=lambda topology, members: net(topology).diameter(read_members(members)),
    grid=points("i = 1, 2: B = K2, C3, C5, K2^2, K2xC3, all S; i = 3: K2, all S", quotients),
    fails_where=("the super-node is not contained in every SN^j", is_outside),
    corrected=Corrected("HDN-C-quotient-diameter", relation=">="),
)
def quotient_diameter(topology: str, members: str) -> Measured:
    """Return the diameter of the network minus the diameter of its quotient."""
    found = quotient(topology, read_members(members))
    own, reduced = diameter(topology).value, measure.diameter(found) if found else 0
    return Measured(own - reduced, {"D": own, "D(Q)": reduced})


def is_doubled(topology: str) -> bool:
    """Return whether the network is two copies of the base, linked node by node."""
    return net(topology).k == 1 and covers_base(topology)


@claim(
    "HDN-S3-diameter-recurrence",
    claimed=lambda topology: 2 - net(topology).diameter(net(topology).members[-1]),
    grid=R1,
    cost=pairs_of,
    degenerate=covers_base,
    fails_where=("k = 1 and SN^1 = B", is_doubled),
    corrected=Corrected(
        "HDN-C-diameter-recurrence",
        claimed=lambda topology: (
            2 - net(topology).diameter(net(topology).members[-1]) - int(is_doubled(topology))
        ),
    ),
)
def recurrence(topology: str) -> Measured:
    """Return D_i - 2 D_{i-1}, with both diameters measured."""
    own, cluster = diameter(topology), diameter(net(topology).lower.name).value
    where = {"D of the network": own.value, "D of a cluster": cluster}
    return Measured(own.value - 2 * cluster, where | own.where)


def recurred(topology: str) -> int:
    """Return D_k = 2 D_{k-1} - D(SN^k) + 2, by the recurrence from D_0 = D(B) on."""
    found = net(topology)
    hops = found.diameter(found.all)
    for members in found.members:
        hops = 2 * hops - found.diameter(members) + 2
    return hops


solved = claim(
    "HDN-S3-solved",
    claimed=lambda topology: net(topology).closed_form(net(topology).diameter),
    measures=False,
    grid=R1_AND_R2,
    measured=recurred,
)


FIRST_IS_BASE = ("SN^1 = B", covers_base)


def hops(topology: str) -> int:
    """Return the corrected diameter: Theorem 1's value, minus 2^(k-1) if SN^1 = B."""
    found = net(topology)
    return found.closed_form(found.diameter) - (2 ** (found.k - 1) if covers_base(topology) else 0)


diameter_by_theorem_1 = claim(
    "HDN-Th1-diameter",
    claimed=lambda topology: net(topology).closed_form(net(topology).diameter),
    grid=R1_AND_R2,
    cost=lambda topology: min(pairs_of(topology), 300),
    measured=diameter,
    degenerate=covers_base,
    fails_where=FIRST_IS_BASE,
    corrected=Corrected("HDN-C-diameter", claimed=hops),
)


def by_table_2(topology: str) -> int:
    """Return Table 2's diameter: 2^k (D(B) - sum of 2^j D(SN^{k-j})) + 2^(k+1) - 2."""
    found = net(topology)
    k, inside = found.k, 0
    for j in range(k):
        inside += 2**j * found.diameter(found.members[k - j - 1])
    return 2**k * (found.diameter(found.all) - inside) + 2 ** (k + 1) - 2


def is_bracketed_otherwise(topology: str) -> bool:
    """Return whether super-nodes have other nodes, except for two copies of a complete graph."""
    found = net(topology)
    doubled = found.k == 1 and covers_base(topology) and found.diameter(found.all) == 1
    return any(found.s(level) > 1 for level in range(1, found.k + 1)) and not doubled


@claim(
    "HDN-Tab2-hdn-diameter",
    claimed=lambda topology: {"D": by_table_2(topology)},
    grid=R1,
    cost=pairs_of,
    fails_where=(
        "some SN^i has more than one node, and it is not two copies of a complete graph",
        is_bracketed_otherwise,
    ),
    corrected=Corrected(
        "HDN-C-diameter-table-2",
        claimed=lambda topology: {"D": hops(topology)},
        measured=lambda topology: {"D": measured_diameter(topology).value},
    ),
)
def diameter_by_table_2(topology: str) -> Measured:
    """Return the largest distance, with a pair."""
    found = diameter(topology)
    return Measured({"D": found.value}, found.where)


size_by_table_2 = claim(
    "HDN-Tab2-hdn-size",
    claimed=lambda topology: {
        "n": closed_form(topology),
        "d": net(topology).degree + net(topology).k,
    },
    grid=R1,
    cost=nodes_of,
    measured=lambda topology: {"n": reached(topology), "d": degree(topology)},
    fails_where=INNER,
)

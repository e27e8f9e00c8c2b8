"""Addresses and re-indexing from level to level (Section 4, up to Table 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.claims import Claim, Measured, claim, once, points
from mpinet.papers.hdn.grids import (
    FIG10,
    FIG11,
    Members,
    Net,
    covers_base,
    listed,
    net,
    nodes_of,
    of_r1,
)
from mpinet.papers.hdn.measured import addresses, dual_net

TWO_LEVELS = points(
    "R1 with k = 2, and the network of Figure 11",
    lambda: listed([*of_r1(lambda found: found.k == 2), FIG11]),
)


@claim("HDN-S4-difference", claimed=("C2",), grid=once("SN^1 and SN^2 of the network of Figure 11"))
def difference() -> list[str]:
    """Return the factors along which N^1 changes and N^2 does not."""
    network = dual_net(FIG11)
    found = []
    for name, port in (("C2", 0), ("C3", 1), ("C5", 3)):
        first, other = (
            [network.level_address(node, level)[3] for node in (0, int(network.neighbor(0, port)))]
            for level in (1, 2)
        )
        # A factor of the difference moves the node within SN^1 and leaves its number in SN^2.
        if first[0] != first[1] and other[0] == other[1]:
            found.append(name)
    return found


def snid_range(topology: str) -> int:
    """Return the claimed number of values of SN_id.

    The formula is 2 |U^{i-1}/(SN^i - SN^{i-1})| |SN^{i-1} - SN^i| with |U^{i-1}| = n_{i-1}.
    """
    found = net(topology)
    before, after = found.members[-2:]

    def nodes(members: Members) -> int:
        return int(np.prod([size for _, size in found.parts(members)], dtype=np.int64))

    gone, come = set(before) - set(after), set(after) - set(before)
    return 2 * (found.n(found.k - 1) // nodes(tuple(come))) * nodes(tuple(gone))


snid_values = claim(
    "HDN-S4-snid-range",
    claimed=snid_range,
    grid=TWO_LEVELS,
    cost=nodes_of,
    measured=lambda topology: len(np.unique(addresses(topology, 2)[:, 2])),
    fails_where=("SN^1 is not the whole base", lambda topology: not covers_base(topology)),
)


@claim(
    "HDN-S4-snid-20",
    claimed={"SN_id": 20, "N_id": 15},
    grid=points("B = C2xC3xC5, S = (6,15)", [{"topology": FIG11}]),
)
def snid_20(topology: str) -> dict[str, int]:
    """Return the numbers of different values in the network."""
    found = addresses(topology, 2)
    return {"SN_id": len(np.unique(found[:, 2])), "N_id": len(np.unique(found[:, 3]))}


def cluster_indices(topology: str) -> tuple[Ints, Ints]:
    """Return two indices of the first cluster's nodes: of the level below, and (SN, N)^k."""
    network, k = dual_net(topology), net(topology).k
    top = addresses(topology, k)
    nodes = np.flatnonzero((top[:, 0] == 0) & (top[:, 1] == 0))
    below = (
        addresses(topology, k - 1)[nodes]
        if k > 1
        else np.array([network.digits(node)[2:] for node in nodes.tolist()])
    )
    return below, top[nodes][:, 2:]


@claim(
    "HDN-S4-reindex-bijective",
    claimed=lambda topology: dict.fromkeys(
        ("below", "(SN,N)", "pairs"), net(topology).nodes(net(topology).k - 1)
    ),
    grid=points("R1", lambda: listed(of_r1())),
    cost=nodes_of,
)
def reindex_bijective(topology: str) -> dict[str, int]:
    """Return the numbers of different indices of each kind, and of different pairs."""
    below, above = cluster_indices(topology)
    both = np.concatenate([below, above], axis=1)
    return {
        name: len(np.unique(rows, axis=0))
        for name, rows in (("below", below), ("(SN,N)", above), ("pairs", both))
    }


@claim(
    "HDN-S4-reindex-equal-s",
    relation="all",
    grid=points(
        "R1 with equal super-nodes at two consecutive levels",
        lambda: listed(of_r1(lambda found: bool(equal_to_last(found)))),
    ),
    cost=nodes_of,
)
def reindex_equal(topology: str) -> Measured:
    """Return whether the indices of both levels are equal at every node."""
    for level in equal_to_last(net(topology)):
        below, above = addresses(topology, level - 1), addresses(topology, level)[:, 2:]
        C, U, SN, N = below.T
        n = int(SN.max()) + 1
        wrong = np.flatnonzero((above[:, 0] != (C * n + U) * n + SN) | (above[:, 1] != N))
        if len(wrong):
            first = int(wrong[0])
            where = {"level": level, "node": first, "below": below[first].tolist()}
            return Measured(False, where | {"(SN,N)": above[first].tolist()})
    return Measured(True)


def equal_to_last(found: Net) -> list[int]:
    """Return the levels with the same super-node as the previous level."""
    return [i for i in range(2, found.k + 1) if found.members[i - 1] == found.members[i - 2]]


@claim("HDN-S4-serial", relation="all", grid=points("B = C2xC3xC5, S = (6)", [{"topology": FIG10}]))
def serial(topology: str) -> bool:
    """Return whether the sorted serial numbers of all nodes are 0, 1, 2, ..."""
    numbers = addresses(topology, 1) @ np.array([150, 30, 6, 1])
    return np.array_equal(np.sort(numbers), np.arange(300))


LEVEL_1 = ((0, 0, 0, 0), (1, 4, 2, 3), (0, 0, 2, 2), (1, 4, 4, 5))
"""Indices in HDN(B,1,S), from Table 4."""

LEVEL_2 = ((0, 0), (19, 0), (0, 14), (19, 14))
"""Pairs (SN,N) in HDN(B,2,S), from Table 4."""

SERIAL = (0, 285, 14, 299)
"""Serial numbers, equal at both levels, from Table 4."""

BY_NUMBER = (
    "re-indexing keeps serial numbers, as Table 4 prints them and the example uses them (the text "
    "of section 4 moves coordinates instead: see HDN-Tab4-serial-equal)"
)
"""Description of one of the paper's two re-indexings."""

BY_COORDINATES = (
    "coordinates move between the two parts, as the text of section 4 says; by this rule rows 2 "
    "and 3 of Table 4 would be (19,2) and (0,12)"
)
"""Description of the other re-indexing."""


def row(number: int) -> Claim:
    """Return the claim of a row of Table 4."""
    index, (SN, N), serial = LEVEL_1[number - 1], LEVEL_2[number - 1], SERIAL[number - 1]
    printed = {"serial in HDN(B,1,S)": serial, "SN": SN, "N": N, "serial in HDN(B,2,S)": serial}

    def cells() -> dict[str, Any]:
        """Return the node's number at level 1, and the indices with this number at level 2."""
        first = dual_net(FIG10).node(",".join(map(str, index)))
        _, _, SN, N = dual_net(FIG11).level_address(first, 2)
        last = dual_net(FIG11).node(f"0,0,{SN},{N}")
        return dict(zip(printed, (first, SN, N, last), strict=True))

    return claim(
        f"HDN-Tab4-r{number}",
        place=f"Table 4 row {number}",
        statement=f"re-indexing takes {index} of HDN(B,1,S), serial number {serial}, to "
        f"(SN,N) = ({SN},{N}) of HDN(B,2,S)",
        claimed=printed,
        grid=once("B = C2xC3xC5, S = (6,15)"),
        measured=cells,
        reading=BY_NUMBER,
    )


TABLE_4 = [row(number) for number in (1, 2, 3, 4)]


@claim(
    "HDN-Tab4-serial-equal",
    relation="all",
    grid=once("B = C2xC3xC5, S = (6,15)"),
    reading=BY_COORDINATES,
)
def serial_equal() -> Measured:
    """Return whether serial numbers agree at both levels; the witness is lowest at level 1."""
    below, above = cluster_indices(FIG11)
    first, second = below @ np.array([150, 30, 6, 1]), above @ np.array([15, 1])
    wrong = np.flatnonzero(first != second)
    if not len(wrong):
        return Measured(True)
    place = wrong[int(first[wrong].argmin())]
    where = {"(C,U,SN,N) of level 1": below[place], "(SN,N) of level 2": above[place]}
    where |= {"serial numbers": (first[place], second[place]), "nodes that differ": len(wrong)}
    return Measured(False, where)

"""Edge sequences around one faulty node (section 5), walked over the links.

A path leads from a hop of type q to a hop of type r > q. The part of the path that meets the fault
has the same ends as its replacement. Both signs of the hops are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from mpinet.claims import Claim, Measured, PointGrid, claim, over, points
from mpinet.claims.statement import Predicate
from mpinet.papers.gmn.digits import bound_2
from mpinet.papers.gmn.grids import each_m, holds_few, listed, parameters, sectors_of
from mpinet.papers.gmn.numbers import hop_types_used
from mpinet.papers.gmn.structure import hop_types, position_of
from mpinet.papers.gmn.walks import Walk, bypassed, compare

Moves = tuple[tuple[int, int], ...]
"""Moves of a walk, each a pair: the hop type to go to along the sector, relative to the point's hop
type, and the number of hops of that type to take. A negative number means backwards; 0 takes no
hop.
"""


class Bypass(NamedTuple):
    """Case of the paper: a part of the path that meets the fault, and its replacement."""

    start: int
    """Hop type at whose node both walks start, relative to the point's hop type."""
    before: Moves
    """Moves of the path up to the fault."""
    after: Moves
    """Moves of the path after the fault, as they would be without the fault."""
    instead: Moves
    """Moves of the replacement."""
    faults: tuple[int, ...] = (-1,)
    """Possible indices of the dead node among the nodes up to the fault. Default: the last node."""

    @property
    def types(self) -> tuple[int, ...]:
        """Return the relative hop types that have to exist, in addition to the point's own."""
        moves = (*self.before, *self.after, *self.instead, (self.start, 0))
        return tuple(sorted({kind for kind, _ in moves} - {0}))

    def walks(self, topology: str, hop: int, sign: int) -> Iterator[tuple[Walk, Walk, set[int]]]:
        """Yield the path, its replacement and the dead node, for hops of the given sign."""
        start = position_of(hop + self.start, topology)
        # If two hops are replaced together, the dead node may be the end of either hop.
        for place in self.faults:
            path = moved(Walk(topology, start), self.before, hop, sign)
            dead = {path.nodes[place]}
            bypass = moved(Walk(topology, start), self.instead, hop, sign)
            yield moved(path, self.after, hop, sign), bypass, dead


def moved(walk: Walk, moves: Moves, hop: int, sign: int) -> Walk:
    """Extend a walk by moves and return it."""
    for kind, times in moves:
        walk.to_hop(hop + kind).hop(hop + kind, times * sign)
    return walk


def with_hops(*offsets: int) -> PointGrid:
    """Return the grid of all m <= 12 and hop types for which the types at these offsets exist."""

    def listed_hops() -> list[dict[str, object]]:
        return [
            {**point, "hop": hop}
            for point in listed(3, 12)
            for hop in range(parameters(point["topology"])[0] // 2)
            if all(0 <= hop + o < parameters(point["topology"])[0] // 2 for o in offsets)
        ]

    named = " with the named hops" if offsets else ""
    return points(f"all m <= 12, every type{named}", listed_hops).quick(
        lambda topology, hop: holds_few(topology)
    )


MISPRINT = (
    "Corrected text: the last hops are of a type two higher. They are printed with a type two "
    "lower, h_(-2), with which the bypass cannot end at the same node."
)


def bypass_claim(
    id: str,
    statement: str,
    edges: int,
    case: Bypass,
    note: str = "",
    cause: str = "",
    fails_where: tuple[str, Predicate] | None = None,
) -> Claim:
    """Return the claim that a replacement has the replaced path's ends and avoids the fault."""

    def replaced(topology: str, hop: int) -> Measured:
        """Compare each path with its replacement; return the first comparison unlike the claim."""
        # Section 5 draws the hops in one direction only, but replacements have to work in both.
        for sign in (1, -1):
            for path, bypass, dead in case.walks(topology, hop, sign):
                found = compare(path, bypass, dead)
                if found != bypassed(edges):
                    return Measured(
                        found, {"path": path.nodes, "bypass": bypass.nodes, "fault": min(dead)}
                    )
        return Measured(found)

    return claim(
        f"GMN-FT-{id}",
        place="5 A",
        statement=f"{statement}: same end, the fault avoided, {edges} edges more",
        claimed=bypassed(edges),
        grid=with_hops(*case.types),
        note=note,
        measured=replaced,
        cause=cause,
        fails_where=fails_where,
    )


CASES = [
    bypass_claim(
        "case1",
        "the node of h_r is dead: 4 h_(r-2) replace h_r",
        3,
        Bypass(-2, ((0, 0),), ((0, 1),), ((-2, 4), (0, 0))),
    ),
    bypass_claim(
        "case2",
        "the node that h_r leads to is dead: 3 (-h_r), h_(r+2) replace h_r",
        3,
        Bypass(0, ((0, 1),), ((2, 0),), ((0, -3), (2, 1))),
        MISPRINT,
    ),
    bypass_claim(
        "case2x2",
        "one of the nodes that two h_r lead to is dead: 6 (-h_r), 2 h_(r+2) replace them",
        6,
        Bypass(0, ((0, 2),), ((2, 0),), ((0, -6), (2, 2)), faults=(1, 2)),
        MISPRINT,
        cause="bypass",
        fails_where=(
            "the hop of type r+2 jumps N/2",
            lambda topology, hop: 2 * 2 ** (hop + 2) == sectors_of(topology),
        ),
    ),
    bypass_claim(
        "case3a",
        "the node between those of h_l and h_(l+2) is dead: 4 (-h_l), h_(l+2) are added",
        5,
        Bypass(0, ((2, 0),), (), ((0, -4), (2, 1)), faults=(1,)),
        MISPRINT,
    ),
    bypass_claim(
        "case3b",
        "the node of h_l, passed by, is dead: 4 (-h_(l-2)), 3 (-h_l), h_(l+2) are added",
        8,
        Bypass(-2, ((0, 0),), ((2, 0),), ((-2, -4), (0, -3), (2, 1))),
    ),
    bypass_claim(
        "case3b-q",
        "the same after q = l-2: 3 (-h_q), 3 (-h_l), h_(l+2) replace h_q",
        6,
        Bypass(-2, ((-2, 1), (0, 0)), ((2, 0),), ((-2, -3), (0, -3), (2, 1))),
        MISPRINT,
    ),
    bypass_claim(
        "case3b-r",
        "the same before r = l+2: 4 h_(l-2), 3 h_l replace h_r",
        6,
        Bypass(-2, ((0, 0),), ((2, 1),), ((-2, 4), (0, 3), (2, 0))),
    ),
]
"""Case A: the fault is neither in the source's nor in the target's sector."""


def leaves_three_out(types: list[int]) -> bool:
    """Return whether three consecutive types of a class are unused, between two used types."""
    classes = ([kind for kind in types if kind % 2 == odd] for odd in (0, 1))
    return any(later - kind >= 8 for used in classes for kind, later in pairwise(used))


@claim(
    "GMN-FT-case3b-length",
    reading="Sector differences have m//2 digits at most, and no diagonal.",
    relation="<=",
    claimed=lambda m: bound_2(m) - 3,
    grid=over(m=range(18, 27)).quick(lambda m: m <= 22),
    cost=lambda m: 2.0 ** (m // 2),
)
def hops_without_three(m: int) -> Measured:
    """Return the most hops of a sector difference with such a gap, with the first difference."""
    most, half = Measured(0), m // 2
    # Lemma 2 gives the largest number of m//2 digits. Larger differences are routed with a
    # diagonal.
    for number in range(1, (2 * (2**half - 1) + half % 2) // 3 + 1):
        hops, types = hop_types_used(number)
        # Case 3b assumes that the neighbouring hops are unused. Only such paths may grow by 8
        # edges.
        if hops > most.value and leaves_three_out(types):
            most = Measured(hops, {"delta": number})
    return most


@claim(
    "GMN-FT-avail",
    claimed=lambda topology, hop: {"r-2": True, "r+2": True},
    grid=with_hops(),
    fails_where=(
        "r < 2, or r is one of the two highest types",
        lambda topology, hop: not 2 <= hop < parameters(topology)[0] // 2 - 2,
    ),
)
def named_hops(topology: str, hop: int) -> dict[str, bool]:
    """Return whether sector 0 has both hop types."""
    there = {kind for _, kind in hop_types(topology, 0)}
    return {"r-2": hop - 2 in there, "r+2": hop + 2 in there}


def targets(topology: str) -> list[int]:
    """Return positions of targets with a hop on the far side, as seen from the hop of type 0."""
    places = [position for position, _ in hop_types(topology, 0)]
    border = position_of(0, topology)
    return [p for p in range(places[0], places[-1] + 1) if p != border]


@claim(
    "GMN-FT-caseB-pair",
    claimed=lambda topology, target: bypassed(2 if target % 2 else 4),
    grid=points(
        "all m <= 12, every position of the target",
        lambda: [
            {**point, "target": target}
            for point in listed(3, 12)
            for target in targets(point["topology"])
        ],
    ).quick(lambda topology, target: holds_few(topology)),
)
def pair_of_hops(topology: str, target: int) -> Measured:
    """Walk down to the hop of type 0 of the previous sector, or up to that of the next; compare."""
    m, _ = parameters(topology)
    border = position_of(0, topology)
    upper = target > border
    sign = 1 if upper else -1
    beside = target if target % 2 else target + sign
    kind = next(kind for position, kind in hop_types(topology, 0) if position == beside)
    start = m if upper else 2 * m
    away = border - m if upper else border
    path = Walk(topology, start).along(away).hop(0, sign)
    landing = len(path.nodes) - 1
    path.along(target - border)
    bypass = Walk(topology, start).along(beside - m if upper else beside).hop(kind, sign)
    bypass.to_hop(0).hop(0, sign).to_hop(kind).hop(kind, -sign).along(target - beside)
    # The text allows any node between the hop of type 0 and the target to be the faulty one.
    dead = set(path.nodes[landing:-1])
    return Measured(compare(path, bypass, dead), {"path": path.nodes, "bypass": bypass.nodes})


@claim(
    "GMN-FT-caseB-triple",
    note="Corrected text: the third hop is printed as h_q, with which no walk comes back.",
    relation="all",
    grid=with_hops(-1),
)
def triple_of_hops(topology: str, hop: int) -> Measured | bool:
    """Walk three hops from the node of h_(q-1), with ring edges between them, and compare."""
    m, _ = parameters(topology)
    for sign in (1, -1):
        walk = Walk(topology, position_of(hop - 1, topology)).hop(hop - 1, 2 * sign)
        walk.to_hop(hop).hop(hop, -sign)
        if walk.nodes[-1] // m != 0:
            return Measured(False, {"nodes": walk.nodes})
    return True


@claim(
    "GMN-FT-caseB-avg",
    measures=False,
    relation="<=",
    claimed=lambda m: {"mean": 11 * m / 8 + 5, "off m + 3 + B2": 0},
    grid=each_m(4999, 999),
)
def mean_length(m: int) -> dict[str, float]:
    """Return the largest mean length, and its largest deviation from m + 3 + B2.

    The mean is that of the printed lengths L(P1) and L(P2), with B2 hops in each. Both maxima
    are over nine pairs of positions of source and target.
    """
    hops = bound_2(m)
    means = [
        (m / 2 - s + 1 + m / 2 + m - d + hops + s + m / 2 + 1 + d - m / 2 + hops + 4) / 2
        for s in (0, m // 4, m // 2)
        for d in (m // 2, 3 * m // 4, m)
    ]
    return {"mean": max(means), "off m + 3 + B2": max(abs(x - (m + 3 + hops)) for x in means)}

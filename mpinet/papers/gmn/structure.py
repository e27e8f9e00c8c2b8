"""Members of G(m,N), and their wiring (abstract, sections 1 and 2, Figs. 1 and 2)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from mpinet.claims import Corrected, Measured, claim, once, over, points, section
from mpinet.errors import TopologyError
from mpinet.measure.distance import diameter
from mpinet.measure.hamiltonian import hamiltonian_cycle, is_hamiltonian_cycle
from mpinet.measure.symmetry import is_automorphism
from mpinet.measure.wiring import edges
from mpinet.networks import open as open_topology
from mpinet.papers.gmn.grids import (
    ALL,
    EVEN,
    HALF_ROUND,
    MID,
    ODD,
    is_small,
    jumps_half,
    largest_size,
    listed,
    name,
    parameters,
    sectors_of,
    size_of,
    sizes,
)
from mpinet.papers.measured import degrees, links

ROUNDING = 1e-9
"""Tolerance far above the rounding error of a ratio."""

LAST_SIZE = 18432
"""Largest size whose interval to the next size is measured."""


def average_degree(topology: str) -> float:
    """Return the average number of neighbours of a node."""
    return 2 * links(topology) / open_topology(topology).size


def exists(topology: str) -> bool:
    """Return whether the emulator accepts this network."""
    try:
        open_topology(topology)
    except TopologyError:
        return False
    return True


@claim(
    "GMN-S-unique",
    note="Corrected text: the printed largest size m 2^(m//2-1) is below the smallest; it is "
    "m 2^(m//2+1).",
    claimed={"of m": (True, False), "of m+1": (False, True)},
    grid=over(m=range(3, 60)),
)
def adjacent_ranges(m: int) -> dict[str, tuple[bool, ...]]:
    """Return which multiples of 2m and 2(m+1) next to the border are sizes."""
    border = largest_size(m)
    found = {}
    for label, sector in (("of m", m), ("of m+1", m + 1)):
        # Condition (d) of section 2 requires multiples of 2m, so the border itself need not be a
        # size.
        last = border // (2 * sector) * 2 * sector
        found[label] = tuple(exists(name(sector, N)) for N in (last, last + 2 * sector))
    return found


def next_size(N: int) -> int:
    """Return the next larger N for which the emulator has a G(m,N)."""
    return next(larger for larger in range(N + 1, 2 * N + 9) if exists(f"gmn:{larger}"))


def successive(one_m: bool) -> list[dict[str, int]]:
    """Return pairs of successive sizes up to 18432 with their m, of one m or of two."""
    every = [parameters(point["topology"]) for point in listed(3, 18, LAST_SIZE)]
    pairs = pairwise(sorted(every, key=lambda pair: pair[1]))
    return [
        {"N": N, "m": m, "next_m": after} for (m, N), (after, _) in pairs if m == after or not one_m
    ]


claim_1 = section(place="1", grid=ALL)

GAPS = (
    claim_1(
        "GMN-S-gap",
        relation="in",
        claimed=lambda N, m, next_m: (2 * m, 2 * next_m),
        grid=points("N <= 18432", lambda: successive(False)),
        measured=lambda N, m, next_m: next_size(N) - N,
        fails_where=(
            "N is the largest size of its m, and N mod 2(m+1) is neither 0 nor 2",
            lambda N, m, next_m: m != next_m and N % (2 * (m + 1)) not in (0, 2),
        ),
        corrected=Corrected("GMN-C-gap", relation="<=", claimed=lambda N, m, next_m: 2 * next_m),
    ),
    claim_1(
        "GMN-S-gap-within-m",
        claimed=lambda N, m, next_m: 2 * m,
        grid=points("N <= 18432", lambda: successive(True)),
        measured=lambda N, m, next_m: next_size(N) - N,
    ),
)


@claim_1(
    "GMN-S-gap-log",
    relation="<",
    claimed=lambda topology: 4 * float(np.log2(size_of(topology))),
    cost=size_of,
)
def doubled_period(topology: str) -> int:
    """Return twice the number of nodes after which the wiring repeats."""
    network = open_topology(topology)
    nodes = np.arange(network.size)
    behind = np.sort(network.neighbor(nodes[:, np.newaxis], np.arange(network.ports)), axis=1)
    jumps = np.sort(
        np.where(behind < 0, -1, (behind - nodes[:, np.newaxis]) % network.size), axis=1
    )
    # The interval 2m is measured from the wiring alone. A period taken from the name would compare
    # the claim with itself.
    period = next(t for t in range(1, network.size) if np.array_equal(jumps[t:], jumps[:-t]))
    return 2 * period


claim_abstract_2 = section(place="abstract, 2", cost=size_of, tolerance=1e-9)

DEGREES = (
    claim_1(
        "GMN-S-degset",
        claimed=(2, 3, 4),
        cost=size_of,
        measured=lambda topology: tuple(degrees(topology)),
    ),
    claim_abstract_2(
        "GMN-S-avgdeg-even",
        claimed=lambda topology: 3 + 1 / parameters(topology)[0],
        grid=EVEN,
        measured=average_degree,
        fails_where=HALF_ROUND,
        corrected=Corrected(
            "GMN-C-avgdeg-even",
            claimed=lambda topology: 3 if jumps_half(topology) else 3 + 1 / parameters(topology)[0],
        ),
    ),
    claim_abstract_2("GMN-S-avgdeg-odd", claimed=3, grid=ODD, measured=average_degree),
    claim_1("GMN-S-avgdeg-max", relation="<=", claimed=3.25, cost=size_of, measured=average_degree),
)


claim_2 = section(place="2", cost=size_of)

LINKS = (
    claim_2(
        "GMN-S-links-asym",
        relation="<=",
        claimed=lambda topology: 1 / (3 * parameters(topology)[0]) + ROUNDING,
        grid=ALL,
        measured=lambda topology: abs(links(topology) / (1.5 * size_of(topology)) - 1),
    ),
    claim_1(
        "GMN-S-links-dl",
        relation="<",
        claimed=lambda topology: 2 * size_of(topology),
        cost=size_of,
        measured=links,
    ),
    claim_1(
        "GMN-S-links-ch",
        relation="<=",
        claimed=lambda topology: 3 * size_of(topology) / 4,
        cost=size_of,
        measured=links,
        corrected=Corrected(
            "GMN-C-links-ch",
            relation="<=",
            claimed=lambda topology: 13 * size_of(topology) / 8,
            note="By the average degrees 3.25 and 3.",
        ),
    ),
    claim_2(
        "GMN-S-deg3",
        claimed=sectors_of,
        grid=points(
            "all m <= 18 and N != m 2^(m/2)",
            lambda: [point for point in ALL.points("full") if not jumps_half(**point)],
        ).quick(is_small),
        measured=lambda topology: degrees(topology).get(3, 0),
    ),
)


@claim("GMN-S-rot", relation="all", grid=MID, cost=size_of)
def rotation(topology: str) -> bool:
    """Return whether the rotation maps every link to a link."""
    m, N = parameters(topology)
    return is_automorphism(topology, (np.arange(N) + m) % N)


hamiltonian = claim(
    "GMN-S-ham",
    relation="all",
    grid=ALL,
    cost=size_of,
    measured=lambda topology: is_hamiltonian_cycle(topology, hamiltonian_cycle(topology) or []),
)

ring_diameter = claim_1(
    "GMN-S-ringdiam",
    claimed=lambda N: N // 2,
    grid=over(N=range(3, 200)),
    measured=lambda N: diameter(f"ring:{N}"),
)


def hop_types(topology: str, sector: int) -> list[tuple[int, int]]:
    """Return positions and types of a sector's hop nodes; type t jumps 2^t sectors."""
    network = open_topology(topology)
    m, _ = parameters(topology)
    found = []
    for position in range(1, m):
        node = sector * m + position
        other = network.neighbor(node, 2)
        if other >= 0:
            jump = (other - node) % network.size
            found.append((position, (jump // m).bit_length() - 1))
    return found


@claim_2("GMN-S-twice", relation="all", grid=ALL)
def doubled_hops(topology: str) -> bool:
    """Return whether the jumps of a sector's hop nodes are doubles, from the shortest on."""
    network = open_topology(topology)
    found = sorted((network.neighbor(p, 2) - p) % network.size for p, _ in hop_types(topology, 0))
    return all(after == 2 * before for before, after in pairwise(found))


def position_of(kind: int, topology: str) -> int:
    """Return the position of a hop type in sector 0."""
    return next(position for position, found in hop_types(topology, 0) if found == kind)


def distribution(topology: str) -> tuple[int, ...]:
    """Return the hop types of sector 0, by position."""
    return tuple(kind for _, kind in hop_types(topology, 0))


FIGURE_1 = (
    claim(
        "GMN-F1a",
        claimed=(3, 1, 0, 2),
        grid=points("m = 8", [{"topology": name(8, N)} for N in sizes(8)]),
        measured=distribution,
    ),
    claim(
        "GMN-F1b",
        claimed=(4, 2, 0, 1, 3),
        grid=points("m = 11", [{"topology": name(11, N)} for N in sizes(11)]),
        measured=distribution,
    ),
)


@claim(
    "GMN-F2",
    claimed={"links": 60, "0-20": True, "1-11": True, "1-31": True, "3-8": True, "3-38": True},
    grid=once("G(5,40)"),
)
def figure_2() -> dict[str, Any]:
    """Return the number of links, and whether the named links exist."""
    there = {f"{u}-{v}" for u, v in edges(name(5, 40)).tolist()}
    drawn = ("0-20", "1-11", "1-31", "3-8", "3-38")
    return {"links": len(there), **{link: link in there for link in drawn}}


def half_of_jumps(topology: str, sector: int) -> Measured | bool:
    """Return whether even types except 0 are on one side of type 0, and odd types on the other."""
    place = {kind: position for position, kind in hop_types(topology, sector)}
    sides = {
        kind: (kind % 2 == 0) == (position > place[0]) for kind, position in place.items() if kind
    }
    if len(set(sides.values())) <= 1:
        return True
    return Measured(False, {"sector": sector, "types by position": distribution(topology)})

"""The cycles of G(m,N), N = 2^q, and the positions of elements on the cycles (section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.claims import claim, once, points
from mpinet.claims.remembered import remembered
from mpinet.machine.machine import Machine
from mpinet.networks import open as open_topology
from mpinet.papers.gmn.grids import HALF_ROUND, listed, name, parameters, sectors_of, size_of
from mpinet.papers.gmn.structure import hop_types, position_of
from mpinet.papers.grids import of
from mpinet.programs.operators.operator import ASCEND
from mpinet.programs.schedules.gmn import Loops
from mpinet.programs.schedules.pipeline import EXTRA, HELD

EXAMPLE = name(8, 256)
"""The network of Fig. 5."""

POWERS = [
    {"topology": point["topology"]}
    for point in listed(4, 16)
    if parameters(point["topology"])[0] in (4, 8, 16) and size_of(**point).bit_count() == 1
]
"""Networks whose m and N are powers of two: N = m 2^(m/2) and N = m 2^(m/2+1)."""

PAPERS = [
    point for point in POWERS if sectors_of(**point) == 2 ** (parameters(**point)[0] // 2 + 1)
]
"""Networks among these for which the paper's formula for q holds."""

HOSTS = points("N = 16, 32, 128, 256, 4096, 8192", POWERS)
PAPERS_HOSTS = points("N = 32, 256, 8192", PAPERS)
TWO_HOSTS = points("G(4,32), G(8,256)", PAPERS[:2])


dimensions = claim(
    "GMN-A-q",
    claimed=of(lambda m, N: m // 2 + (m.bit_length() - 1) + 1),
    grid=points("m = 4, 8, 16 and all N = 2^q", POWERS),
    measured=lambda topology: Loops(Machine(topology)).dimensions,
    fails_where=HALF_ROUND,
)


def renumbered(topology: str) -> Ints:
    """Return the node with each new number; numbers start at the hop of type 0 of sector 0."""
    N = size_of(topology)
    # Section 6 numbers the nodes from a hop of type 0 on, where one cycle ends and the next starts.
    return (np.arange(N) + position_of(0, topology)) % N


@remembered(most=16)
def cycles(topology: str) -> list[list[int]]:
    """Return the cycles: ring links from one hop of type 0 to the next, closed by that hop."""
    network = open_topology(topology)
    m, N = parameters(topology)
    found = []
    for start in renumbered(topology)[::m].tolist():
        nodes = [start, network.neighbor(start, 0)]
        # A hop of type 0 leads to the next sector. This property identifies the end of a cycle
        # without the formulas.
        while network.neighbor(nodes[-1], 2) != (nodes[-1] + m) % N:
            nodes.append(network.neighbor(nodes[-1], 0))
        closed = start in network.neighbor(nodes[-1], range(network.ports))
        found.append(nodes if closed else [])
    return found


@claim(
    "GMN-A-cycles",
    claimed=lambda topology: {
        "cycles": sectors_of(topology),
        "nodes": (parameters(topology)[0] + 1,),
        "shared by neighbours": (1,),
        "shared by others": (0,),
    },
    grid=TWO_HOSTS,
)
def cycles_of_sectors(topology: str) -> dict[str, Any]:
    """Return facts on the cycles, by following them over links and intersecting them."""
    found = [set(nodes) for nodes in cycles(topology)]
    count = len(found)
    shared: dict[bool, set[int]] = {True: set(), False: set()}
    for i in range(count):
        for j in range(i):
            shared[i - j in (1, count - 1)].add(len(found[i] & found[j]))
    return {
        "cycles": count,
        "nodes": tuple(sorted({len(nodes) for nodes in found})),
        "shared by neighbours": tuple(sorted(shared[True])),
        "shared by others": tuple(sorted(shared[False])),
    }


@claim(
    "GMN-A-onenode",
    claimed=lambda topology: dict.fromkeys(laterals(topology), (1,)),
    grid=PAPERS_HOSTS,
)
def linked_nodes(topology: str) -> dict[str, tuple[int, ...]]:
    """Return the number of nodes of a cycle that are linked to other cycles, by distance."""
    network = open_topology(topology)
    m, N = parameters(topology)
    nodes = renumbered(topology)[:, np.newaxis]
    jumps = (network.neighbor(nodes, np.arange(network.ports)) - nodes) % N
    found = {}
    for label in laterals(topology):
        away = 2 ** int(label.removeprefix("2^"))
        linked = np.isin(jumps, (away, N - away)) & (
            network.neighbor(nodes, np.arange(network.ports)) >= 0
        )
        found[label] = tuple(np.unique(linked.any(axis=1).reshape(-1, m).sum(axis=1)).tolist())
    return found


def laterals(topology: str) -> list[str]:
    """Return the distances that need links between cycles: 2^r, .., 2^(q-1)."""
    m, N = parameters(topology)
    return [f"2^{j}" for j in range(m.bit_length() - 1, N.bit_length() - 1)]


def types_met(topology: str) -> tuple[int, ...]:
    """Return the types of the links at (l,1), .., (l,m-1) and (l+1,0), equal for all cycles l.

    A link of type t leads 2^t cycles on.
    """
    network = open_topology(topology)
    m, N = parameters(topology)
    nodes = renumbered(topology)
    met = set()
    for start in range(1, N, m):
        others = network.neighbor(np.roll(nodes, -start)[:m], np.full(m, 2))
        jumps = (others - np.roll(nodes, -start)[:m]) % N
        met.add(tuple((jump // m).bit_length() - 1 for jump in jumps[others >= 0].tolist()))
    return met.pop() if len(met) == 1 else ()


@claim(
    "GMN-A-alpha",
    note="Corrected text: alpha = 2^(r-1), that is m/2, is printed, without the diagonal.",
    claimed=lambda topology: {"types": parameters(topology)[0] // 2 + 1, "last": 0},
    grid=PAPERS_HOSTS,
)
def number_of_types(topology: str) -> dict[str, int]:
    """Return the numbers of link types of a cycle."""
    met = types_met(topology)
    return {"types": len(set(met)), "last": met[-1]}


sequence = claim(
    "GMN-A-seq8",
    claimed=(2, 4, 3, 1, 0),
    grid=once("G(8,256)"),
    measured=lambda: types_met(EXAMPLE),
)


@claim("GMN-A-pi8", claimed={"4": 2, "3": 4, "2": 3, "1": 1, "0": 0}, grid=once("G(8,256)"))
def permutation() -> dict[str, int]:
    """Return the positions of the elements 2^j cycles after element 0, in the emulator."""
    places = places_of(EXAMPLE)
    bits = range(len(laterals(EXAMPLE)) - 1, -1, -1)
    return {str(j): int(places[8 << j] // 8).bit_length() - 1 for j in bits}


def places_of(topology: str) -> Ints:
    """Return the new number of the processor at which each element starts."""
    elements = Loops(Machine(topology)).index
    places = np.empty(len(elements), np.int64)
    places[elements[renumbered(topology)]] = np.arange(len(elements))
    return places


places = claim(
    "GMN-A-place",
    claimed={"a_32": 64, "a_64": 128, "a_128": 32},
    grid=once("G(8,256)"),
    measured=lambda: {
        f"a_{element}": int(places_of(EXAMPLE)[element]) for element in (32, 64, 128)
    },
)


def shifted(topology: str, shifts: int) -> list[Array]:
    """Return the elements in the processors' registers, in new order, after 0, 1, .. shifts."""
    host = Loops(Machine(topology))
    registers = np.stack([host.index] * 4)
    registers[EXTRA] = -1
    order = renumbered(topology)
    seen = [registers[:, order].copy()]
    for turn in range(1, shifts + 1):
        host.circulate(turn, ASCEND, registers)
        seen.append(registers[:, order].copy())
    return seen


@claim(
    "GMN-A-shifts",
    note="Corrected text: P[9] is printed for P[6].",
    claimed={"0": (0, 0), "3": (6, 1), "5": (4, 3)},
    grid=once("G(8,256)"),
)
def shifts_of_first() -> dict[str, tuple[int, int]]:
    """Return processor and hop type of element a_0 after 0, 3 and 5 shifts on the machine."""
    seen, order = shifted(EXAMPLE, 5), renumbered(EXAMPLE)
    found = {}
    for shifts in (0, 3, 5):
        place = int(np.flatnonzero(seen[shifts][HELD] == 0)[0])
        kinds = dict(hop_types(EXAMPLE, int(order[place]) // 8))
        found[str(shifts)] = place, kinds[int(order[place]) % 8]
    return found


@claim(
    "GMN-A-unpipe",
    claimed=lambda topology: dict.fromkeys(laterals(topology), parameters(topology)[0] + 1),
    grid=TWO_HOSTS,
)
def shifts_of_dimension(topology: str) -> dict[str, int]:
    """Return the number of shifts of the elements on the machine, by distance."""
    m, _ = parameters(topology)
    seen = shifted(topology, 2 * m + 2)
    # Measured and not taken from the paper, because the claim states m + 1 shifts.
    lap = next(t for t in range(1, 2 * m + 3) if np.array_equal(seen[0][HELD], seen[t][HELD]))
    met = types_met(topology)
    slots = [0, *linked_slots(topology)]
    found = {}
    for kind, label in enumerate(laterals(topology)):
        slot = slots[1 + met.index(kind)] if kind else 0
        stood = {int(seen[t][HELD][slot]) for t in range(lap)}
        found[label] = lap if set(seen[0][HELD][:m].tolist()) <= stood else -1
    return found


def linked_slots(topology: str) -> Sequence[int]:
    """Return the places of a cycle, from 1 on, with a link to another cycle."""
    m, _ = parameters(topology)
    network = open_topology(topology)
    return [p for p in range(1, m) if network.neighbor(int(renumbered(topology)[p]), 2) >= 0]

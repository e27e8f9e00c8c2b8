"""Beyond the paper: steps of broadcasts, optimal routing in LST, and closed forms of distances."""

from __future__ import annotations

import numpy as np

from mpinet import measure
from mpinet.base.arrays import Flags, Ints
from mpinet.claims import BEYOND, Measured, over, section
from mpinet.machine import Machine
from mpinet.networks.catalogue import open_topology
from mpinet.networks.members import Members
from mpinet.networks.sth.cube import Cube
from mpinet.networks.sth.scalable import cube_of_kind
from mpinet.papers.detours import LONGEST, LOST, detours
from mpinet.papers.grids import networks, numbers, of, up_to
from mpinet.papers.sth.grids import KINDS, VALID, factors, family, sths
from mpinet.papers.sth.routing import SOURCES, longest, worst_broadcast
from mpinet.papers.witness import first_pair
from mpinet.programs import ascend
from mpinet.programs.flood import flood
from mpinet.programs.schedules.routed import copies

ALL_KINDS = {**VALID, "q": range(1, 10)}
"""Kinds of cubes including the hypercube, with dimensions up to 9."""


def _cubes(most: int) -> list[str]:
    """Return all cubes up to a number of dimensions, smallest first."""
    return [
        f"{kind}:{n}"
        for n in range(1, most + 1)
        for kind in ("tq", "cq", "hkv", "q")
        if n >= ALL_KINDS[kind][0] and (kind != "hkv" or n % 2)
    ]


def cube_named(topology: str) -> Cube:
    """Return the cube with the kind and dimension of a topology string."""
    return cube_of_kind(topology.partition(":")[0], *numbers(topology))


claim_beyond = section(place=BEYOND)

LOOP_BROADCAST = claim_beyond(
    "STH-X-lst-broadcast",
    statement="the one-port broadcast along the chords of LST(m) takes m+2 steps and informs every "
    "node once",
    claimed=of(lambda m: m + 2),
    grid=family("lst", range(2, 65)).quick(up_to(256)),
    measured=lambda topology: worst_broadcast(open_topology(topology), "chords"),
)


@claim_beyond(
    "STH-X-cube-broadcast",
    statement="the one-port broadcast over a cube's dimensions takes n steps for every kind and "
    "source (n > 7: 16 sources) and informs every node once",
    claimed=of(lambda n: n),
    grid=networks("every kind and q, n<=14", _cubes(14)).quick(of(lambda n: n <= 5)),
    cost=of(lambda n: 1 + 2**n / 4000),
)
def cube_broadcast(topology: str) -> Measured:
    """Broadcast from all sources, or from 16 sources."""
    cube = cube_named(topology)
    return worst_broadcast(cube, "dimensions", 128 if cube.size <= 128 else SOURCES)


STH_BROADCAST = claim_beyond(
    "STH-X-sth-broadcast",
    statement="the one-port broadcast in two phases takes m+n+2 steps in STH(m,n) and informs "
    "every node once",
    claimed=of(lambda m, n: m + n + 2),
    grid=sths("m=2..4, n<=5, every kind, 16 sources", (2, 3, 4), KINDS, range(6)).quick(up_to(128)),
    measured=lambda topology: worst_broadcast(open_topology(topology), "twophase"),
)


FAULTY = sths("m=2,3, n=2,3, tq and cq; 20 random sets of n+3 nodes", (2, 3), ("tq", "cq"), (2, 3))


def dead_nodes(topology: str) -> list[list[int]]:
    """Return 20 random sets of as many nodes as STH survives: one less than its connectivity."""
    draw, network = np.random.default_rng(0), open_topology(topology)
    return [draw.permutation(network.size)[: network.ports - 1].tolist() for _ in range(20)]


DETOURS = claim_beyond(
    "STH-X-detour",
    statement="with n+3 dead nodes, routing `detour` delivers every message between live nodes of "
    "STH(m,n), in at most 8 hops more than without the faults",
    relation="<=",
    claimed={LOST: 0, LONGEST: 8},
    grid=FAULTY.quick(up_to(64)),
    measured=lambda topology: detours(topology, ({"nodes": dead} for dead in dead_nodes(topology))),
)


@claim_beyond(
    "STH-X-faulty-broadcast",
    statement="with n+3 dead nodes, a flood informs all live nodes of STH(m,n) within m+n+2 steps, "
    "lemma 7's fault diameter",
    relation="<=",
    claimed=of(lambda m, n: {"uninformed": 0, "steps": m + n + 2}),
    grid=FAULTY.quick(up_to(64)),
)
def faulty_broadcast(topology: str) -> dict[str, int]:
    """Return the worst numbers of floods from the lowest live node."""
    parts = [Members(open_topology(topology), None, dead) for dead in dead_nodes(topology)]
    found = [(part, flood(Machine(part, "all"), 0)) for part in parts]
    return {
        "uninformed": max(part.size - each.informed for part, each in found),
        "steps": max(each.steps for _, each in found),
    }


@claim_beyond(
    "STH-X-parts",
    statement="ASCEND in all LST copies (all TQ copies) of STH(m,n) at the same time takes as many "
    "steps as in one copy alone",
    claimed=lambda topology, part: (
        ascend.run(Machine(factors(topology)[part == "tq"]), "sum").steps
    ),
    grid=over("m=2, n=2,3; both factors", topology=["sth:2,2", "sth:2,3"], part=["lst", "tq"]),
)
def parts_at_once(topology: str, part: str) -> int | str:
    """Return the steps on the whole network, or a text for a wrong result."""
    found = ascend.run(Machine(topology), "sum", algorithm=copies(part))
    return found.steps if found.correct else "wrong result"


@claim_beyond(
    "STH-X-lst-optimal-route",
    statement="the stateless rule of LST(m) takes as many hops as the distance, for all pairs",
    claimed=0,
    grid=family("lst", range(2, 8), "LST(m), m=2..7, all pairs"),
)
def optimal_route(topology: str) -> Measured:
    """Return the number of pairs whose route is longer than their distance."""
    longest(topology, "optimal")
    excess = measure.length_matrix(topology, "optimal") - measure.distance_matrix(topology)
    return _number_of(excess != 0)


@claim_beyond(
    "STH-X-cube-distance",
    statement="the distances in the cubes (every kind and q) equal the closed forms for all pairs",
    claimed=0,
    grid=networks("every kind and q, n<=8, all pairs", _cubes(8)),
)
def cube_distance(topology: str) -> Measured:
    """Return the number of pairs whose distance by floods differs from the closed form."""
    kind, cube = topology.partition(":")[0], cube_named(topology)
    n = cube.dimensions
    u, v = np.divmod(np.arange(4**n), 2**n)
    form = CLOSED_FORMS[kind](u, v, n).reshape(2**n, 2**n)
    return _number_of(measure.distance_matrix(cube) != form)


def _number_of(wrong: Flags) -> Measured:
    """Return the number of wrong pairs, with the first of them."""
    return Measured(int(wrong.sum()), first_pair(wrong))


def binary_form(u: Ints, v: Ints, n: int) -> Ints:
    """Return the number of different bits."""
    return sum(((u ^ v) >> bit & 1 for bit in range(n)), start=np.zeros_like(u))


def twisted_form(u: Ints, v: Ints, n: int) -> Ints:
    """Return the distance in the twisted cube of definition 8 (docs/papers/sth, 4)."""
    low, high = (u ^ v) & 3, binary_form(u >> 2, v >> 2, n)
    three = np.where((u >> 2) & (v >> 2) == 0, 1, 2)
    crossed = np.where((u < 4) & (v < 4), 2, 1)
    return high + np.choose(low, [np.zeros_like(u), crossed, np.ones_like(u), three])


def crossed_form(u: Ints, v: Ints, n: int) -> Ints:
    """Return the distance in the crossed cube (docs/papers/sth, 4): double bits downwards."""
    total = np.zeros_like(u)
    for place in range((n - 1) // 2, -1, -1):
        a, b = u >> 2 * place & 3, v >> 2 * place & 3
        wanted = np.where((a & 1 == 1) & (total % 2 == 1), 2, 0)
        first = np.choose(a ^ b, [0, 1, 1, 2])
        total += np.where(total == 0, first, a ^ b != wanted)
    return total


def hilbers_form(u: Ints, v: Ints, n: int) -> Ints:
    """Return the distance in the HKV twisted cube (docs/papers/sth, 4): pairs upwards."""
    total = (u ^ v) & 1
    toggled = total == 1
    for pair in range(1, (n - 1) // 2 + 1):
        change = (u ^ v) >> (2 * pair - 1) & 3
        odd = binary_form(u, np.zeros_like(u), 2 * pair - 1) % 2 == 1
        alone = np.choose(change, [0, np.where(odd, 1, 2), 1, np.where(odd, 2, 1)])
        total = total + np.where(toggled, change > 0, alone)
        toggled = toggled | (change == 1) | (change == 2) | ((change == 3) & odd)
    return total


CLOSED_FORMS = {
    "q": binary_form,
    "tq": twisted_form,
    "cq": crossed_form,
    "hkv": hilbers_form,
}
"""Functions that return distances of nodes u and v in a cube of n dimensions, by kind."""

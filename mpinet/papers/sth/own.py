"""Beyond the paper: steps of broadcasts, optimal routing in LST, and closed forms of distances."""

from __future__ import annotations

import numpy as np

from mpinet import measure
from mpinet.base.arrays import Flags, Ints
from mpinet.claims import BEYOND, Measured, section
from mpinet.networks.catalogue import open_topology
from mpinet.networks.sth.cube import Cube
from mpinet.networks.sth.scalable import cube_of_kind
from mpinet.papers.grids import networks, numbers, of, up_to
from mpinet.papers.sth.grids import KINDS, VALID, family, sths
from mpinet.papers.sth.routing import SOURCES, longest, worst_broadcast
from mpinet.papers.witness import first_pair

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

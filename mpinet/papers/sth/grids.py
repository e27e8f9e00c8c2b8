"""Networks at which the claims of the STH paper are tested."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mpinet.claims import PointGrid
from mpinet.papers.grids import networks, numbers, of
from mpinet.papers.measured import size_of
from mpinet.papers.sth.printed import ROWS

KINDS = {"tq": "twisted cube of definition 8", "cq": "crossed cube", "hkv": "HKV twisted cube"}
"""Cubes that the paper may mean, with their names."""

VALID = {"tq": range(2, 10), "cq": range(1, 10), "hkv": range(1, 10, 2)}
"""Dimensions of each kind of cube, up to 9."""


def sth(m: int, n: int, kind: str = "tq") -> str:
    """Return an STH's topology string."""
    return f"sth:{m},{n}" if kind == "tq" else f"sth:{m},{n},{kind}"


def factors(topology: str) -> tuple[str, str]:
    """Return the topology strings of an STH's loop and cube."""
    m, n, *kind = topology.partition(":")[2].split(",")
    return f"lst:{m}", f"{''.join(kind) or 'tq'}:{n}"


def family(name: str, values: Iterable[int], text: str = "") -> PointGrid:
    """Return the grid of a family with one number, in the order of the numbers."""
    every = list(values)
    return networks(text or f"{name}, {every[0]}..{every[-1]}", (f"{name}:{v}" for v in every))


def sths(text: str, ms: Iterable[int], kinds: Iterable[str], ns: Iterable[int]) -> PointGrid:
    """Return the grid of STH of some m, kinds and n (if valid for the kind), smallest first."""
    allowed = set(ns)
    names = [sth(m, n, kind) for kind in kinds for m in ms for n in VALID[kind] if n in allowed]
    return networks(text, sorted(names, key=lambda name: (size_of(name), numbers(name))))


def dlh_of(nodes: int) -> str:
    """Return the DLH of a row of tables 5 to 7."""
    return f"dlh:{nodes // 512},7"


def sth_of(nodes: int, kind: str = "tq") -> str:
    """Return the STH of a row of tables 5 to 7."""
    return sth(2, 6, kind) if nodes == 1024 else sth(nodes // 1024, 7, kind)


def hypercube_of(nodes: int) -> str:
    """Return the hypercube of a row of table 7."""
    return f"hypercube:{nodes.bit_length() - 1}"


def hexcell_up_to(nodes: int) -> str:
    """Return the largest Hex-Cell with at most the given number of nodes."""
    depth = 1
    while 6 * (depth + 1) ** 2 <= nodes:
        depth += 1
    return f"hexcell:{depth}"


def hexcell_from(nodes: int) -> str:
    """Return the smallest Hex-Cell with at least the given number of nodes."""
    depth = 1
    while 6 * depth**2 < nodes:
        depth += 1
    return f"hexcell:{depth}"


SMALL = sths("m=2,3,5, n<=5, every kind", (2, 3, 5), KINDS, range(6))
"""Grid of lemmas 1 and 2."""

CUBES = networks(
    "every kind, n<=6",
    (f"{kind}:{n}" for n in range(1, 7) for kind in KINDS if n in VALID[kind]),
)
"""Cubes, smallest first."""

DLHS = networks(
    "DLH, m=2..7, n=0..3",
    sorted((f"dlh:{m},{n}" for m in range(2, 8) for n in range(4)), key=size_of),
)
"""Grid of STH in table 4."""

HEXCELLS = family("hexcell", range(1, 9), "Hex-Cell, 1..8 levels")
"""Grid of Hex-Cells in table 4."""


def rows(network: Callable[[int], str]) -> PointGrid:
    """Return the grid of a network for each row of tables 5 to 7."""
    return networks("the 8 rows, N=2^10..2^17", map(network, ROWS))


def beyond(n: int) -> tuple[str, Callable[..., bool]]:
    """Return the condition of more than n dimensions, for `Claim.fails_where`."""
    return f"n > {n}", of(lambda *parameters: parameters[-1] > n)


NOT_FOUR = ("m is not 4", of(lambda m, n: m != 4))
"""Condition under which the printed width of DLH(m,n) differs from the true width
(`Claim.fails_where`).
"""

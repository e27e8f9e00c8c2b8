"""Table 8: number of the sizes 1 to 50000 that a family offers within psi percent.

A family's sizes are the sizes of networks that can be opened. No twisted cube of definition 8 has
one dimension, so TQ and STH have two readings. By definition 8 they start at two dimensions. The
other reading uses a single link as TQ_1, without which the table's counts are not reproduced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from mpinet.claims import Claim, Corrected, claim
from mpinet.claims.remembered import remembered
from mpinet.papers.measured import size_of
from mpinet.papers.sth.grids import sth
from mpinet.papers.sth.printed import TABLE_8, TOLERANCES

WANTED = 50_000
"""Largest requested size."""

LARGEST = WANTED * 120 // 100
"""Largest network size within 20 percent of a requested size."""

SIZES_ARE = 0.0099
"""Tolerance of a percentage with two decimals, truncated or rounded; too small to affect a
count.
"""


def _sizes(name: Callable[[int], str], first: int) -> Iterator[int]:
    """Yield the sizes of networks with one growing parameter."""
    while (size := size_of(name(first))) <= LARGEST:
        yield size
        first += 1


def _products(name: Callable[[int, int], str], n: int = 1) -> Iterator[int]:
    """Yield node counts of networks: for each n from a value on, all m from 2 on.

    Networks with more than `LARGEST` nodes are left out. `name` returns the network of (n, m).
    """
    while size_of(name(n, 2)) <= LARGEST:
        yield from _sizes(partial(name, n), 2)
        n += 1


FAMILIES: dict[str, tuple[str, Callable[[], Iterator[int]]]] = {
    "dlh": ("DLH", lambda: _products(lambda n, m: f"dlh:{m},{n}")),
    "hx": ("HX", lambda: _sizes(lambda d: f"hexcell:{d}", 1)),
    "sth": ("STH by definition 8", lambda: _products(lambda n, m: sth(m, n), 2)),
    "tq": ("TQ by definition 8", lambda: _sizes(lambda n: f"tq:{n}", 2)),
    "sth-link": ("STH", lambda: _products(lambda n, m: sth(m, n, "tq" if n > 1 else "cq"))),
    "tq-link": ("TQ", lambda: _sizes(lambda n: f"tq:{n}" if n > 1 else "cq:1", 1)),
}
"""Name of each family, and the sizes of its networks."""


WITH_SINGLE_LINK = ("dlh", "hx", "sth-link", "tq-link")
BY_DEFINITION = ("dlh", "hx", "sth", "tq")
"""Families of the table's columns in both readings."""

READINGS = {
    "sth-link": "Stand-in: a single link takes the place of TQ_1, which definition 8 does not "
    "have.",
    "tq-link": "Stand-in: a single link takes the place of TQ_1, which definition 8 does not have.",
    "sth": "by definition 8, whose twisted cubes have two dimensions or more.",
    "tq": "by definition 8, whose twisted cubes have two dimensions or more.",
}


@remembered
def sizes(family: str) -> np.ndarray:
    """Return all sizes of a family's networks, ascending."""
    return np.unique(np.fromiter(FAMILIES[family][1](), np.int64))


@remembered
def available(family: str, psi: int) -> int:
    """Return the number of sizes A with a network of the family near A; see `near_sizes`."""
    return near_sizes(sizes(family), psi)


def near_sizes(offered: Sequence[int] | np.ndarray, psi: int) -> int:
    """Return the number of sizes A with some offered size B for which 100 |A-B| / A < psi.

    Parameters
    ----------
    offered : sequence of int
        Offered sizes, ascending.
    psi : int
        Percentage.
    """
    wanted, offered = np.arange(1, WANTED + 1), np.asarray(offered)
    above = np.searchsorted(offered, wanted)
    near = np.abs(offered[np.minimum(above, len(offered) - 1)] - wanted)
    # Offered sizes ascend, so the nearest is one of the two neighbours of the requested size.
    near = np.minimum(near, np.abs(offered[np.maximum(above - 1, 0)] - wanted))
    return int((100 * near < psi * wanted).sum())


def percentage(family: str, psi: int) -> float:
    """Return `available` as a percentage, which the table truncates or rounds to two decimals."""
    return 100 * available(family, psi) / WANTED


MISPRINTED = ((15, "dlh"), (15, "tq-link"))
"""Cells whose percentage is neither the rounded nor the truncated value of their count."""

REFUTED = {"hx": "hexcell", "sth": "one-dimension", "tq": "one-dimension"}
"""Error that affects the cells of each family (`Claim.cause`)."""


def single_levels(psi: int, count: float) -> Corrected:
    """Return the corrected statement on a cell of Hex-Cell."""
    return Corrected(
        f"STH-C-T8-{psi}-hx",
        "table 8's Hex-Cell cells belong to the sizes 6(2i-1), the nodes of single "
        f"levels: {count} sizes within {psi} percent",
        claimed=count,
        tolerance=0,
        measures=False,
        measured=lambda: near_sizes([6 * (2 * i - 1) for i in range(1, LARGEST)], psi),
    )


def _cell(psi: int, family: str, printed: tuple[float, float]) -> Claim:
    """Return the claim of a cell: a count and a percentage."""
    name = FAMILIES[family][0]
    id = f"{family}-def8" if family in BY_DEFINITION[2:] else family
    return claim(
        f"STH-T8-{psi}-{id}",
        place=f"table 8, row {psi}",
        statement=f"of the sizes 1..{WANTED}, {name} offers {printed[0]}, or {printed[1]:.2f} "
        f"percent, with a deviation of less than {psi} percent",
        claimed={f"{name} sizes": printed[0], f"{name} %": printed[1]},
        tolerance=SIZES_ARE,
        reading=READINGS.get(family, ""),
        measured=lambda: {
            f"{name} sizes": available(family, psi),
            f"{name} %": percentage(family, psi),
        },
        cause=REFUTED.get(family, "percentage" if (psi, family) in MISPRINTED else ""),
        corrected=single_levels(psi, int(printed[0])) if family == "hx" else None,
    )


CELLS = [
    _cell(psi, family, printed)
    for psi in TOLERANCES
    for families in (WITH_SINGLE_LINK, BY_DEFINITION[2:])
    for family, printed in zip(families, TABLE_8[psi][-len(families) :], strict=True)
]

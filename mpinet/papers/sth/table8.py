"""Table 8: how many of the sizes 1 to 50000 a family offers within psi percent.

A family's sizes are those of the networks that can be opened. No twisted cube of definition 8 has
one dimension: there the crossed cube, a single link, stands in, without which the table's counts do
not come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from mpinet.claims import Claim, claim
from mpinet.claims.remembered import remembered
from mpinet.papers.measured import size_of
from mpinet.papers.sth.grids import sth
from mpinet.papers.sth.printed import TABLE_8, TOLERANCES

WANTED = 50_000
"""Largest size that is asked for."""

LARGEST = WANTED * 120 // 100
"""No larger network is within 20 percent of a size that is asked for."""

SIZES_ARE = 0.010001
"""Tolerance of a percentage with two decimals, cut or rounded; of a count it is none."""


def _sizes(name: Callable[[int], str], first: int) -> Iterator[int]:
    """Sizes of networks with one growing parameter."""
    while (size := size_of(name(first))) <= LARGEST:
        yield size
        first += 1


def _products(name: Callable[[int, int], str]) -> Iterator[int]:
    """Sizes of networks with n from 1 and m from 2 on."""
    n = 1
    while size_of(name(n, 2)) <= LARGEST:
        yield from _sizes(partial(name, n), 2)
        n += 1


FAMILIES: dict[str, tuple[str, Callable[[], Iterator[int]]]] = {
    "dlh": ("DLH", lambda: _products(lambda n, m: f"dlh:{m},{n}")),
    "hx": ("HX", lambda: _sizes(lambda d: f"hexcell:{d}", 1)),
    "sth": ("STH", lambda: _products(lambda n, m: sth(m, n, "tq" if n > 1 else "cq"))),
    "tq": ("TQ", lambda: _sizes(lambda n: f"tq:{n}" if n > 1 else "cq:1", 1)),
}
"""Each family's name, and the sizes of its networks."""


@remembered
def sizes(family: str) -> np.ndarray:
    """All sizes of a family's networks, ascending."""
    return np.unique(np.fromiter(FAMILIES[family][1](), np.int64))


@remembered
def available(family: str, psi: int) -> int:
    """Number of sizes A for which some network has a size B with 100 |A-B| / A < psi."""
    wanted, offered = np.arange(1, WANTED + 1), sizes(family)
    above = np.searchsorted(offered, wanted)
    near = np.abs(offered[np.minimum(above, len(offered) - 1)] - wanted)
    near = np.minimum(near, np.abs(offered[np.maximum(above - 1, 0)] - wanted))
    return int((100 * near < psi * wanted).sum())


def percentage(family: str, psi: int) -> float:
    """`available` as a percentage with two decimals."""
    return round(100 * available(family, psi) / WANTED, 2)


def _cell(psi: int, family: str, printed: tuple[int, float]) -> Claim:
    """A count and a percentage."""
    name = FAMILIES[family][0]
    return claim(
        f"STH-T8-{psi}-{family}",
        place=f"table 8, row {psi}",
        statement=f"of the sizes 1..{WANTED}, {name} offers {printed[0]}, or {printed[1]:.2f} "
        f"percent, with a deviation of less than {psi} percent",
        claimed={f"{name} sizes": printed[0], f"{name} %": printed[1]},
        tolerance=SIZES_ARE,
        measured=lambda: {
            f"{name} sizes": available(family, psi),
            f"{name} %": percentage(family, psi),
        },
    )


CELLS = [
    _cell(psi, family, printed)
    for psi in TOLERANCES
    for family, printed in zip(FAMILIES, TABLE_8[psi], strict=True)
]

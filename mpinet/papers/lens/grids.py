"""Networks at which the claims of the lens are tested, smallest first."""

from __future__ import annotations

from collections.abc import Iterable

from mpinet.claims import PointGrid
from mpinet.papers.grids import networks, numbers
from mpinet.papers.measured import size_of

Settings = Iterable[tuple[int, ...]]


def by_size(text: str, names: Iterable[str]) -> PointGrid:
    """Return the grid of some networks, smallest first."""
    return networks(text, sorted(names, key=lambda name: (size_of(name), numbers(name))))


def lenses(text: str, settings: Settings) -> PointGrid:
    """Return the grid of lenses by (p, q, n)."""
    return by_size(text, (f"lens:{p},{q},{n}" for p, q, n in settings))


def circles(text: str, settings: Settings) -> PointGrid:
    """Return the grid of completed lenses by (p, n)."""
    return by_size(text, (f"clens:{p},{n}" for p, n in settings))


def family(name: str, settings: Settings, text: str) -> PointGrid:
    """Return the grid of networks of another family by their numbers."""
    return by_size(text, (f"{name}:{','.join(map(str, setting))}" for setting in settings))


UNCOMPLETED = [
    *((p, q, n) for p in range(2, 6) for q in range(2, 6) for n in range(1, 4)),
    *((3, 3, 4), (3, 3, 5), (3, 2, 5), (2, 3, 5), (4, 3, 4), (3, 4, 4), (4, 4, 4)),
]
"""Lenses (p, q, n) of range U (docs/papers/lens, 13)."""

COMPLETED = [
    *((2, 2), (2, 3), (2, 6), (3, 2), (3, 3), (3, 4), (3, 5)),
    *((4, 2), (4, 3), (5, 2), (5, 3), (6, 2)),
]
"""Completed lenses (p, n) of range C (docs/papers/lens, 13)."""

FURTHER = [(3, 6), (3, 7), (3, 8), (4, 4), (4, 5), (5, 4)]
"""Pairs (p, n) with larger n."""

U_TEXT, C_TEXT = "lenses, p,q<=5, n<=3 and seven larger", "twelve completed lenses up to N=192"

U = lenses(U_TEXT, UNCOMPLETED)
U_WIDE = lenses(f"{U_TEXT}, p>=3", (s for s in UNCOMPLETED if s[0] >= 3))
U_SMALL = lenses(
    "lenses of U with N<=40",
    (s for s in UNCOMPLETED if size_of(f"lens:{s[0]},{s[1]},{s[2]}") <= 40),
)
C = circles(C_TEXT, COMPLETED)
C_WIDE = circles("completed lenses, p>=3, n<=8", (s for s in [*COMPLETED, *FURTHER] if s[0] >= 3))
C_MORE = circles("completed lenses, n<=8", [*COMPLETED, *FURTHER])
C_SMALL = circles(
    "completed lenses, N<=81", (s for s in COMPLETED if size_of(f"clens:{s[0]},{s[1]}") <= 81)
)
C_FIVE = circles("completed lenses, p 2..5", (s for s in COMPLETED if s[0] <= 5))
PROOF = circles("completed lenses (3,2..4), (4,2), (4,3)", [(3, 2), (3, 3), (3, 4), (4, 2), (4, 3)])
CLASSES = circles("completed lenses (3,2..5), (4,3)", [(3, 2), (3, 3), (3, 4), (3, 5), (4, 3)])
SEVEN = lenses(
    "seven lenses",
    [(2, 3, 3), (3, 2, 3), (3, 3, 3), (3, 4, 3), (4, 3, 3), (3, 3, 4), (4, 4, 3)],
)
FIVE = lenses("five lenses", [(3, 3, 2), (2, 4, 3), (4, 3, 2), (3, 4, 3), (5, 3, 3)])
"""Ranges of the claims."""

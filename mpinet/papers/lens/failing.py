"""What the points have in common at which claims fail; where nothing is named, nothing is known."""

from __future__ import annotations

from mpinet.claims.paper import Failing
from mpinet.papers.grids import of

FAILING: Failing = {
    "LENS-S4-region-borders": (
        "p > 2 and n > 1, or p = 2, q > 2 and n > 2",
        of(lambda p, q, n: n > 1 if p > 2 else q > 2 and n > 2),
    ),
    "LENS-S4-length-A": ("p > 2", of(lambda p, q, n: p > 2)),
    "LENS-S5-worst-case-A": ("p = 2", of(lambda p, n: p == 2)),
    "LENS-B-lens": ("n > 1", of(lambda p, q, n: n > 1)),
    "LENS-B-completed": ("p = 3 and n = 4", of(lambda p, n: (p, n) == (3, 4))),
}
"""By id: in words, and as a predicate of a point."""

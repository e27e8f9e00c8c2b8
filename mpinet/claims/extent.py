"""Extent of a refutation: the number of failing points of a claim, and their common property.

A claim's description of its failing points is counted over the measured points, not taken on trust.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mpinet.claims.grid import Point
from mpinet.claims.statement import Claim, Predicate


@dataclass(frozen=True)
class RefutationExtent:
    """Extent of a refutation."""

    failing: int = 0
    """Number of failing points."""
    everywhere: bool = False
    """True if all measured points fail."""
    common: dict[str, Any] | None = None
    """Common property of the failing points, as in `mpinet.claims.verdict.Verdict`; None if no
    common property is known.
    """
    degenerate: int | None = None
    """Number of degenerate failing points; None if the claim has no rule for degenerate points."""
    nondegenerate: int | None = None
    """Index of the first failing point that is not degenerate."""


def extent(claim: Claim, points: Sequence[Point], wrong: Sequence[bool]) -> RefutationExtent:
    """Return how many points fail, and how many of these have the claim's described property.

    The description is the claim's `fails_where`. Points with this property that do not fail,
    and degenerate failing points, are counted separately.

    Parameters
    ----------
    claim : Claim
        The claim.
    points : sequence of dict
        The measured points.
    wrong : sequence of bool
        For each point: True if the claim fails.
    """
    failing = [i for i, fails in enumerate(wrong) if fails]
    common = degenerate = nondegenerate = None
    if claim.fails_where is not None:
        text, predicate = claim.fails_where
        so = _so(predicate, points)
        among = sum(so[i] for i in failing)
        # A property shared by points without failure explains too much, and is shown as inexact.
        others = sum(so) - among
        exact = among == len(failing) and not others
        common = {"text": text, "failing": among, "holding": others, "exact": exact}
    if claim.degenerate is not None:
        # A reader may object that the paper never meant the smallest witness. The first
        # non-degenerate failing point answers this objection.
        fair = [i for i in failing if not claim.degenerate(**points[i])]
        degenerate = len(failing) - len(fair)
        nondegenerate = fair[0] if fair else None
    return RefutationExtent(
        len(failing), len(failing) == len(points), common, degenerate, nondegenerate
    )


def _so(predicate: Predicate, points: Sequence[Point]) -> list[bool]:
    return [bool(predicate(**point)) for point in points]

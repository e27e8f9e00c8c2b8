"""Extent of a refutation: at how many points a claim fails, and what these have in common.

What a claim says of its failing points is counted over the points that were measured, not believed.
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
    """Points that fail."""
    everywhere: bool = False
    """True if all measured points fail."""
    common: dict[str, Any] | None = None
    """Common property of the failing points, as in `mpinet.claims.verdict.Verdict`; None if no such
    property is known."""
    degenerate: int | None = None
    """Failing points that are degenerate; None where the claim names none so."""
    nondegenerate: int | None = None
    """Number of the first failing point that is not."""


def extent(claim: Claim, points: Sequence[Point], wrong: Sequence[bool]) -> RefutationExtent:
    """Count failing points, and their common property, over the measured points.

    Parameters
    ----------
    claim : Claim
        The claim.
    points : sequence of dict
        The points that were measured.
    wrong : sequence of bool
        Which of them fail.
    """
    failing = [i for i, fails in enumerate(wrong) if fails]
    common = degenerate = nondegenerate = None
    if claim.fails_where is not None:
        text, predicate = claim.fails_where
        so = _so(predicate, points)
        among = sum(so[i] for i in failing)
        # A property that points without failure have too explains too much, so it is shown as
        # inexact.
        others = sum(so) - among
        exact = among == len(failing) and not others
        common = {"text": text, "failing": among, "holding": others, "exact": exact}
    if claim.degenerate is not None:
        # A reader may object that the paper never meant the smallest witness. This one answers the
        # objection.
        fair = [i for i in failing if not claim.degenerate(**points[i])]
        degenerate = len(failing) - len(fair)
        nondegenerate = fair[0] if fair else None
    return RefutationExtent(
        len(failing), len(failing) == len(points), common, degenerate, nondegenerate
    )


def _so(predicate: Predicate, points: Sequence[Point]) -> list[bool]:
    return [bool(predicate(**point)) for point in points]

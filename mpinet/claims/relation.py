"""Relations between measured and claimed values.

Numbers are compared by ``=``, ``<=``, ``~`` (within a tolerance) and similar relations. For a claim
of a fact (``all``, ``iff``, ``iso``, ..) the measurement is true or false, and the relation only
shows the kind of statement.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from mpinet.base.plain import plain
from mpinet.errors import OutOfReach
from mpinet.measure.bounded import Bounded

ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

FACTS = ("all", "exists", "iso", "iff", "=>", "superset")
"""Relations of facts: the measurement is true or false."""

RELATIONS = ("=", "~", "in", *ORDERS, *FACTS)


def holds(relation: str, measured: Any, claimed: Any, tolerance: float = 0.0) -> bool:
    """Return whether ``measured RELATION claimed`` holds; for objects, in every field.

    Parameters
    ----------
    relation : str
        One of `RELATIONS`. ``=`` is exact by default, and allows an absolute `tolerance`; ``~`` has
        a relative `tolerance`.
    measured, claimed : object
        Numbers, texts, tuples or lists of these, or dicts of these with the same keys.
    tolerance : float
        Largest difference for ``=`` (absolute) and ``~`` (relative).
    """
    measured, claimed = plain(measured), plain(claimed)
    # Objects are judged field by field: a witness then names the failing cells of a table.
    if isinstance(claimed, dict) and relation != "in":
        same = isinstance(measured, dict) and list(measured) == list(claimed)
        return same and not differing(relation, measured, claimed, tolerance)
    # Python takes 1 for true. A measurement that returns a count in place of a fact must not pass.
    if relation in FACTS:
        return measured is True and claimed is True
    if relation == "in":
        return measured in claimed
    if relation in ORDERS:
        return bool(ORDERS[relation](measured, claimed))
    if relation == "~":
        return bool(abs(measured - claimed) <= tolerance * abs(claimed))
    return _equal(measured, claimed, tolerance)


def deciding(relation: str, found: Bounded, claimed: Any, tolerance: float = 0.0) -> int:
    """Return the bound on a number that decides whether ``number RELATION claimed`` holds.

    Raises
    ------
    OutOfReach
        The bounds do not decide the relation: some numbers between them satisfy it, some do not.
    """
    ends = [found.lower, found.upper]
    right = [holds(relation, end, claimed, tolerance) for end in ends]
    if found.exact or all(right):
        # An upper bound proves that a value is at most the claimed value; the opposite needs the
        # lower bound.
        return ends[relation in ("<", "<=")]
    values = claimed if isinstance(claimed, list) else [claimed]
    # For an equality the claimed value may lie strictly between the bounds, and is then possible
    # although neither bound equals it.
    inside = relation not in ORDERS and any(found.lower < v < found.upper for v in values)
    if any(right) or inside:
        raise OutOfReach(
            f"{found.known}, so the claim is undecided: allow more effort ({found.effort}=..)"
        )
    # Both bounds refute the claim. The nearer bound never overstates the difference.
    return min(ends, key=lambda end: abs(end - values[0]))


def differing(
    relation: str, measured: dict[str, Any], claimed: dict[str, Any], tolerance: float = 0.0
) -> list[str]:
    """Return the names of the fields in which the relation does not hold."""
    return [
        key
        for key, value in claimed.items()
        if key not in measured or not holds(relation, measured[key], value, tolerance)
    ]


def _equal(measured: Any, claimed: Any, tolerance: float) -> bool:
    if isinstance(claimed, list):
        return (
            isinstance(measured, list)
            and len(measured) == len(claimed)
            and all(_equal(m, c, tolerance) for m, c in zip(measured, claimed, strict=True))
        )
    if tolerance and isinstance(measured, int | float):
        return bool(abs(measured - claimed) <= tolerance)
    return bool(measured == claimed)

"""Relations between measured and claimed values.

Numbers are compared by ``=``, ``<=``, ``~`` (within a tolerance) and the like. A claim that states
a fact (``all``, ``iff``, ``iso``, ..) is measured as true or false; its relation only shows what
kind of statement it is.
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
"""Relations that state a fact: the measurement is true or false."""

RELATIONS = ("=", "~", "in", *ORDERS, *FACTS)


def holds(relation: str, measured: Any, claimed: Any, tolerance: float = 0.0) -> bool:
    """Return whether ``measured RELATION claimed``; for objects, whether it holds in every field.

    Parameters
    ----------
    relation : str
        One of `RELATIONS`. ``=`` allows no difference unless there is a tolerance, which is
        absolute; that of ``~`` is relative.
    measured, claimed : object
        Numbers, texts, tuples or lists of them, or dicts of these with the same keys.
    tolerance : float
        See `relation`.
    """
    measured, claimed = plain(measured), plain(claimed)
    # Objects are judged field by field: a witness then names the cells of a table that fail.
    if isinstance(claimed, dict) and relation != "in":
        same = isinstance(measured, dict) and list(measured) == list(claimed)
        return same and not differing(relation, measured, claimed, tolerance)
    # Python takes 1 for true. A measurement that returns a count where a fact is claimed must not
    # pass.
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
    """Return the bound on a number that decides whether ``number RELATION claimed``.

    Raises
    ------
    OutOfReach
        Neither does: the widths between the bounds differ in it.
    """
    ends = [found.lower, found.upper]
    right = [holds(relation, end, claimed, tolerance) for end in ends]
    if found.exact or all(right):
        # An upper bound proves that a value is at most the claimed one; the opposite needs the
        # lower bound.
        return ends[relation in ("<", "<=")]
    values = claimed if isinstance(claimed, list) else [claimed]
    # For an equality the claimed value may lie strictly between the bounds: it is possible, though
    # neither bound equals it.
    inside = relation not in ORDERS and any(found.lower < v < found.upper for v in values)
    if any(right) or inside:
        raise OutOfReach(
            f"{found.known}, which does not decide it: allow more effort ({found.effort}=..)"
        )
    # Both bounds refute the claim. The nearer one never overstates by how much it fails.
    return min(ends, key=lambda end: abs(end - values[0]))


def differing(
    relation: str, measured: dict[str, Any], claimed: dict[str, Any], tolerance: float = 0.0
) -> list[str]:
    """Return the names of the fields for which the relation does not hold."""
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

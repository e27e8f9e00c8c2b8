"""Findings: the results of a claim's measurement at single points."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from mpinet.base.blame import told
from mpinet.base.numerals import quoted
from mpinet.base.plain import plain
from mpinet.claims.grid import Point
from mpinet.claims.relation import deciding, differing, holds
from mpinet.claims.statement import Claim, Measured
from mpinet.errors import MpinetError, OutOfReach, UsageError
from mpinet.machine.transport import alone
from mpinet.measure.bounded import Bounded


@dataclass(frozen=True)
class Finding:
    """Result at one point of a claim's grid; values have JSON types."""

    claimed: Any = None
    """Claimed value at the point."""
    measured: Any = None
    """Measured value at the point."""
    holds: bool = False
    """True if the relation holds between the two values."""
    where: dict[str, Any] = field(default_factory=dict)
    """Place on the network at which the measured value was found."""
    out_of_reach: str = ""
    """Reason why nothing was measured; otherwise empty."""
    error: str = ""
    """Error of the measurement; otherwise empty."""
    seconds: float = 0.0
    """Wall time of the measurement, in seconds."""


def find(claim: Claim, point: Point) -> Finding:
    """Measure a claim at a point, on machines hosted by this process alone."""
    began = time.perf_counter()
    try:
        found = _measure(claim, point)
    # A point that is too large says nothing against the claim: it stays open there, and all other
    # points still count.
    except OutOfReach as why:
        found = {"out_of_reach": str(why)}
    except MpinetError as error:
        found = {"error": f"{type(error).__name__}: {error}"}
    # The measurement may be a user's own code. Its crash becomes a row of the ledger and does not
    # end a run of hours.
    except Exception as error:
        found = {"error": told(error)}
    return Finding(**found, seconds=round(time.perf_counter() - began, 6))


def _measure(claim: Claim, point: Point) -> dict[str, Any]:
    """Measure the value, compute the claimed value, and compare both."""
    assert claim.measured is not None
    # Tasks are dealt to single ranks. A collective call would wait here for ranks with different
    # measurements.
    with alone():
        measured = claim.measured(**point)
        claimed = claim.claimed_at(point)
    where: dict[str, Any] = {}
    if isinstance(measured, Measured):
        measured, where = measured.value, dict(measured.where)
    # Bounds are enough if both lie on one side of the claimed value. A claimed value between the
    # bounds is out of reach.
    if isinstance(measured, Bounded):
        where = asdict(measured) | where
        measured = deciding(claim.relation, measured, plain(claimed), claim.tolerance)
    claimed, measured = plain(claimed), plain(measured)
    # The journal and the exchange between ranks are JSON. A bad value must fail at its own claim,
    # under its name.
    _require_json(claimed=claimed, measured=measured, where=plain(where))
    right = holds(claim.relation, measured, claimed, claim.tolerance)
    if not right and isinstance(claimed, dict) and isinstance(measured, dict):
        where = {"fields": differing(claim.relation, measured, claimed, claim.tolerance)} | where
    return {"claimed": claimed, "measured": measured, "holds": right, "where": plain(where)}


def _require_json(**values: Any) -> None:
    """Raise `UsageError` for a value without a JSON form, which the journal cannot keep."""
    for name, value in values.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise UsageError(f"`{name}` is {quoted(str(value))}: JSON has no such value.") from None

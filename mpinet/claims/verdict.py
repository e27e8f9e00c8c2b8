"""Verdicts: the rows of the ledger, derived from the findings of each claim.

A claim holds on the tested range, or is refuted by the first failing point, its witness. A command
repeats the measurement of the witness. The claim stays open if nothing could be measured. An error
of the measurement is a separate verdict, because it says nothing about the claim. Some of our rows
compare a paper's stated steps with the fewest possible steps. Fewer steps do not refute the paper;
the stated steps are then beaten.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mpinet.base.blame import told
from mpinet.claims.extent import RefutationExtent, extent
from mpinet.claims.finding import Finding
from mpinet.claims.grid import Point, argument_text, extremes_text, point_text
from mpinet.claims.quotation import Quotation
from mpinet.claims.statement import Claim

HOLDS, REFUTED, BEATEN, OPEN, ERROR = "holds", "refuted", "beaten", "open", "error"
VERDICTS = (HOLDS, REFUTED, BEATEN, OPEN, ERROR)

FAILS = (REFUTED, BEATEN)
"""Verdicts decided by a single failing point."""


@dataclass(frozen=True)
class Verdict:
    """A row of the ledger; the fields match the command line's JSON output."""

    id: str
    """Id of the claim in the ledger."""
    paper: str
    """Room or file of the claim."""
    place: str
    """Place in the paper: section, theorem, figure, table."""
    statement: str
    """Statement in our words."""
    relation: str
    """Required relation: ``measured RELATION claimed``."""
    claimed: Any
    """Claimed value at the witness; without a witness, at the last measured point."""
    measured: Any
    """Measured value at the witness; without a witness, at the last measured point."""
    range: str
    """The claim's grid, with the number of measured points, and the total if it is larger."""
    points: int
    """Number of measured points."""
    verdict: str
    """``holds`` on the tested range, ``refuted``, ``beaten`` (fewer steps than stated are enough),
    ``open`` (not testable) or ``error``. An error of the measurement says nothing about the claim.
    """
    witness: dict[str, Any] | None
    """First point that refutes the claim: its arguments, and the place on the network."""
    replay: str | None
    """Command that repeats the measurement of the witness."""
    reason: str | None
    """Reason why the claim is open, text of an error, or reason why some points were left out."""
    seconds: float
    """Total time of all measurements of the claim, in seconds."""
    note: str = ""
    """Note for readers, as in `Claim`."""
    reading: str = ""
    """Tested reading, if the paper's words are ambiguous."""
    quotation: Quotation | None = None
    """Quotation from the paper; None without one."""
    cause: str = ""
    """Name of the error that refutes the claim; empty if the claim is not refuted."""
    grade: str = ""
    """Grade of this error, one of `mpinet.claims.cause.GRADES`; empty if the claim is not refuted.
    """
    ours: bool = False
    """True if the row is our own, not a statement of the paper."""
    corrects: str = ""
    """Id of the refuted claim that this corrected statement replaces; empty for other rows."""
    measures: bool = True
    """True if a network is measured; False if formulas are compared with formulas."""
    failing: int = 0
    """Number of measured points at which the claim fails."""
    everywhere: bool = False
    """True if the claim fails at every measured point."""
    common: dict[str, Any] | None = None
    """Common property of the failing points: its `text`, and the numbers of `failing` and `holding`
    points with this property. It is `exact` if all failing points have the property, and no other
    point. None if no common property is known.
    """
    degenerate: int | None = None
    """Number of degenerate failing points; None if the claim has no rule for degenerate points."""
    nondegenerate: dict[str, Any] | None = None
    """First failing point that is not degenerate: point, where, claimed, measured, replay. None if
    the claim has no rule for degenerate points, or all failing points are degenerate.
    """
    tested: str = ""
    """Measured part of the grid, with its number of points; empty if nothing was measured. No
    digest depends on this text.
    """
    at: dict[str, Any] | None = None
    """Point of the claimed and the measured value; None if nothing was measured. No digest depends
    on this field.
    """
    values: list[dict[str, Any]] | None = None
    """Result at every measured point (point, claimed, measured, holds, and the wrong fields), for a
    table or a plot of the paper; otherwise None.
    """


def lasting(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a verdict's JSON object that enter its digest."""
    # Times differ from run to run, and `tested` and `at` only describe the measured points: none
    # may change a digest.
    kept = {name: value for name, value in row.items() if name not in ("tested", "at")}
    return kept | {"seconds": None}


def judge(
    claim: Claim, points: Sequence[Point], findings: Sequence[Finding], of: int, source: str
) -> Verdict:
    """Return the verdict on a claim from its points, in the order of its grid.

    Parameters
    ----------
    claim : Claim
        The claim.
    points, findings : sequences
        The points, and the finding at each point.
    of : int
        The number of points of the whole grid.
    source : str
        Words before the claim on the command line: a user's file and a blank, or empty.
    """
    measured = [i for i, found in enumerate(findings) if not found.out_of_reach]
    verdict, at, reason = _verdict(claim, points, findings, measured)
    shown = findings[at] if at is not None else Finding()
    witness = replay = fair = None
    found, tested, among = RefutationExtent(), "", [points[i] for i in measured]
    try:
        tested = _tested(claim, among, of)
        if verdict in FAILS:
            witness = {"point": _arguments(points[at or 0]), "where": shown.where}
            replay = replay_command(claim, points[at or 0], source)
            found = extent(claim, among, [not findings[i].holds for i in measured])
    except Exception as error:  # the claim's predicates may be user code
        verdict, reason, witness, replay = ERROR, told(error), None, None
    if found.nondegenerate is not None:
        i = measured[found.nondegenerate]
        fair = _fair(claim, points[i], findings[i], source)
    return Verdict(
        id=claim.id,
        paper=claim.paper,
        place=claim.place,
        statement=claim.statement,
        relation=claim.relation,
        claimed=shown.claimed,
        measured=shown.measured,
        range=_range(claim, len(measured), of),
        points=len(measured),
        verdict=verdict,
        witness=witness,
        replay=replay,
        reason=reason,
        seconds=round(sum(finding.seconds for finding in findings), 6),
        note=claim.note,
        reading=claim.reading,
        quotation=claim.quotation,
        # On the quick budget a refuted claim may hold. Its row must not name an error without a
        # measured failing point.
        cause=claim.cause if verdict == REFUTED else "",
        grade=claim.grade if verdict == REFUTED else "",
        ours=claim.ours,
        corrects=claim.corrects,
        measures=claim.measures,
        failing=found.failing,
        everywhere=found.everywhere,
        common=found.common,
        degenerate=found.degenerate,
        nondegenerate=fair,
        tested=tested,
        at=None if at is None else _arguments(points[at]),
        values=[_value(points[i], findings[i]) for i in measured] if claim.kept else None,
    )


def _value(point: Point, finding: Finding) -> dict[str, Any]:
    """Return one row of a claim's tables and plots: the finding at a point.

    The row has the point as text, the claimed and measured values, `holds`, and the names of
    differing fields.
    """
    return {
        "point": point_text(point),
        "claimed": finding.claimed,
        "measured": finding.measured,
        "holds": finding.holds,
        "fields": finding.where.get("fields", []),
    }


def _fair(claim: Claim, point: Point, finding: Finding, source: str) -> dict[str, Any]:
    """Return a non-degenerate witness as a JSON object."""
    return {
        "point": _arguments(point),
        "where": finding.where,
        "claimed": finding.claimed,
        "measured": finding.measured,
        "replay": replay_command(claim, point, source),
    }


def _verdict(
    claim: Claim, points: Sequence[Point], findings: Sequence[Finding], measured: list[int]
) -> tuple[str, int | None, str | None]:
    """Return the verdict, the index of the point that shows it, and the reason."""
    if claim.measured is None:
        return OPEN, None, claim.reason
    failed = [i for i in measured if findings[i].error]
    if failed:
        return ERROR, failed[0], f"at {point_text(points[failed[0]])}: {findings[failed[0]].error}"
    wrong = [i for i in measured if not findings[i].holds]
    if wrong:
        return BEATEN if claim.beats else REFUTED, wrong[0], None
    if measured:
        return HOLDS, measured[-1], _left_out(findings)
    if findings:
        return OPEN, None, findings[0].out_of_reach
    # Without this case, a claim with an empty grid would count as holding everywhere.
    return ERROR, None, "the grid has no points: nothing was tested"


def _left_out(findings: Sequence[Finding]) -> str | None:
    """Return the reason for unmeasured points of a claim that holds; None if all were measured."""
    reasons = [found.out_of_reach for found in findings if found.out_of_reach]
    if not reasons:
        return None
    return f"{len(reasons)} point{'s' * (len(reasons) != 1)} out of reach: {reasons[0]}"


def replay_command(claim: Claim, point: Point, source: str = "") -> str:
    """Return the command that measures a claim at one point."""
    at = [f"--at {shlex.quote(f'{name}={argument_text(v)}')}" for name, v in point.items()]
    return " ".join([f"mpinet verify {source}{claim.id}", *at])


def _arguments(point: Point) -> dict[str, Any]:
    return {name: argument_text(v) if isinstance(v, tuple) else v for name, v in point.items()}


def _range(claim: Claim, tested: int, of: int) -> str:
    """Describe the tested grid in words."""
    count = f"{tested} point{'s' * (tested != 1)}" + (f" of {of}" if of != tested else "")
    return f"{claim.grid.text} ({count})" if claim.grid.text else ("-" if of == 1 else count)


def _tested(claim: Claim, points: Sequence[Point], of: int) -> str:
    """Describe the measured points, with the grid's own words if they are the whole grid."""
    if not points:
        return ""
    whole = len(points) == of
    count = f"{len(points)}{'' if whole else f' of {of}'} point{'s' * (of != 1)}"
    odd = sum(bool(claim.degenerate(**point)) for point in points) if claim.degenerate else 0
    count += f", {odd} degenerate" if odd else ""
    text = claim.grid.text if whole else extremes_text(points)
    return f"{text} ({count})" if text else count

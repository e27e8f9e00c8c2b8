"""``mpinet verify``: test claims of the papers, or your own claims, by measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from mpinet.commands.fields import Count, Fields, When
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, Options, Saved, Typed
from mpinet.commands.result import ListResult

T = TypeVar("T")


JUDGED = When("without ``--list``")


Judged = Annotated[T, JUDGED]


class Shared(Fields):
    """Common property of failing points, with its count among failing and among other points."""

    text: str
    failing: Count
    holding: Count
    exact: bool


class FailingPoint(Fields):
    """A point at which a claim fails."""

    point: Any
    where: Any
    claimed: Any
    measured: Any
    replay: str


class MeasuredPoint(Fields):
    """A claimed value from a table or plot of the paper, with the measured value."""

    point: Any
    claimed: Any
    measured: Any
    holds: bool
    fields: Annotated[Any, "the wrong fields"]


class DifferingPoint(Fields):
    """A point at which two implementations measure different values."""

    point: str
    measured: Any
    independent: Any


class IndependentAnswer(Fields):
    """Verdict and values of another program on a claim."""

    verdict: str
    points: Annotated[Count, "with a value from both programs"]
    differing: list[DifferingPoint]
    agrees: Annotated[bool, "whether verdicts and values agree"]


class QuotedWords(Fields):
    """Quotation from a paper."""

    text: str
    page: Annotated[str, "empty if the paper's text marks no pages"]
    line: Annotated[Count, "of that text"]


class VerifyRow(Fields):
    """A claim, with its verdict unless claims are only listed."""

    id: str
    paper: str
    place: str
    statement: str
    relation: str
    range: str
    claimed: Judged[Any]
    measured: Judged[Any]
    tested: Annotated[Judged[str], "the part of `range` that was measured; not in the digest"]
    at: Annotated[Judged[Any], "the point of both values; not in the digest"]
    points: Judged[Count]
    verdict: Annotated[
        Judged[str],
        "holds, refuted, beaten (fewer steps than claimed are enough), open, error",
    ]
    witness: Judged[Any]
    replay: Judged[str | None]
    reason: Judged[str | None]
    seconds: Judged[float]
    note: Judged[str]
    reading: Annotated[Judged[str], "if the paper is ambiguous"]
    quotation: Annotated[Judged[QuotedWords | None], "null if the row is not from a paper"]
    cause: Annotated[Judged[str], "of a refutation: name in the paper's table of causes"]
    grade: Annotated[
        Judged[str], "of that error: wrong result, boundary case, overstatement, slip; else empty"
    ]
    ours: Annotated[Judged[bool], "true if the row is not a statement of the paper"]
    corrects: Annotated[Judged[str], "a claim's id"]
    measures: Annotated[
        Judged[bool], "whether a network is measured, or a formula compared with a formula"
    ]
    failing: Annotated[Judged[Count], "number of points"]
    everywhere: Annotated[Judged[bool], "true if the claim fails at all points"]
    common: Annotated[Judged[Shared | None], "of failing points; null if unknown"]
    degenerate: Annotated[Judged[Count | None], "number of failing points"]
    nondegenerate: Judged[FailingPoint | None]

    beside_: ClassVar = {
        "values": Annotated[
            list[MeasuredPoint] | None, JUDGED, "for claims in a table or plot; else null"
        ],
        "independent": Annotated[IndependentAnswer, When("with ``--independent``")],
    }


class VerifyResult(ListResult[VerifyRow]):
    """Result of ``verify``."""


@dataclass(frozen=True)
class VerifyOptions(Options):
    """Test claims of the papers, or your own claims, by measurements (collective).

    Examples
    --------
    ``mpinet verify --list gmn``

    ``mpinet verify gmn``
    """

    command = "verify"
    claims: Annotated[Sequence[str], Typed(metavar="PAPER|CLAIM|FILE.py")] = ()
    """Papers (such as hdn), claims, patterns of claims (``GMN-T1-*``), or files; default: all
    papers."""
    _: KW_ONLY
    budget: Literal["quick", "full"] | None = None
    """Part of each claim's grid to test; default: quick."""
    at: Annotated[Sequence[str] | None, Typed(metavar="NAME=VALUE")] = None
    """Argument value that selects points of the full grids."""
    journal: Annotated[Path | None, Typed(metavar="FOLDER")] = None
    """Folder for all findings; an interrupted run continues from this folder."""
    html: Annotated[Path | None, Typed(metavar="FILE")] = None
    """File for a web page of the result."""
    document: Annotated[Path | None, Typed(words=("--from",), metavar="FILE.json")] = None
    """Result file of an earlier ``--out``: print this result without measuring."""
    independent: Annotated[Path | None, Typed(metavar="PROGRAM.py")] = None
    """Program that measures claims with its own code and prints its findings as JSON. Only its
    claims are tested, and both findings are reported; the exit status is 1 if they differ."""
    list: bool = False
    """List the claims without testing them."""


verify = function_with(VerifyOptions, VerifyResult, Saved, Common)

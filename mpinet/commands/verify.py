"""``mpinet verify``: judge the papers' claims, or a user's own, by measurements."""

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
    """Property of failing points, counted among those that fail and those that hold."""

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
    """A value of a claim that a table or a plot of the paper shows."""

    point: Any
    claimed: Any
    measured: Any
    holds: bool
    fields: Annotated[Any, "those that are wrong"]


class DifferingPoint(Fields):
    """A point at which two implementations measure different values."""

    point: str
    measured: Any
    independent: Any


class IndependentAnswer(Fields):
    """Answer of another program on a claim."""

    verdict: str
    points: Annotated[Count, "at which both have a value"]
    differing: list[DifferingPoint]
    agrees: Annotated[bool, "whether verdicts and values are the same"]


class QuotedWords(Fields):
    """Words of a paper."""

    text: str
    page: Annotated[str, "empty where the paper's text marks none"]
    line: Annotated[Count, "of that text"]


class VerifyRow(Fields):
    """A claim; with its verdict, unless claims are only listed."""

    id: str
    paper: str
    place: str
    statement: str
    relation: str
    range: str
    claimed: Judged[Any]
    measured: Judged[Any]
    tested: Annotated[Judged[str], "the part of `range` that was measured; not in the digest"]
    points: Judged[Count]
    verdict: Annotated[
        Judged[str],
        "holds, refuted, beaten (fewer steps are enough than a claim states), open, error",
    ]
    witness: Judged[Any]
    replay: Judged[str | None]
    reason: Judged[str | None]
    seconds: Judged[float]
    note: Judged[str]
    reading: Annotated[Judged[str], "where the paper leaves a choice"]
    quotation: Annotated[Judged[QuotedWords | None], "null where a row is not a paper's"]
    cause: Annotated[Judged[str], "of a refutation, by its name in the paper's table of causes"]
    grade: Annotated[
        Judged[str], "of that error: wrong result, boundary case, overstatement, slip; else empty"
    ]
    ours: Annotated[Judged[bool], "whether the row is no statement of the paper"]
    corrects: Annotated[Judged[str], "a claim's id"]
    measures: Annotated[
        Judged[bool], "whether a network is measured, or a formula compared with a formula"
    ]
    failing: Annotated[Judged[Count], "at how many of the points"]
    everywhere: Annotated[Judged[bool], "whether at all of them"]
    common: Annotated[Judged[Shared | None], "of failing points; null where nothing is known"]
    degenerate: Annotated[Judged[Count | None], "how many of the failing"]
    nondegenerate: Judged[FailingPoint | None]

    beside_: ClassVar = {
        "values": Annotated[
            list[MeasuredPoint] | None, JUDGED, "of claims that a table or plot shows; else null"
        ],
        "independent": Annotated[IndependentAnswer, When("with ``--independent``")],
    }


class VerifyResult(ListResult[VerifyRow]):
    """Result of ``verify``."""


@dataclass(frozen=True)
class VerifyOptions(Options):
    """Judge the papers' claims, or one's own, by measurements (collective).

    Examples
    --------
    ``mpinet verify --list gmn``

    ``mpinet verify gmn``
    """

    command = "verify"
    claims: Annotated[Sequence[str], Typed(metavar="PAPER|CLAIM|FILE.py")] = ()
    """Papers (hdn), claims, patterns of them (``GMN-T1-*``) or files; default: every paper."""
    _: KW_ONLY
    budget: Literal["quick", "full"] | None = None
    """Part of the grids that is tested; default: quick."""
    at: Annotated[Sequence[str] | None, Typed(metavar="NAME=VALUE")] = None
    """Argument that selects the points of the full grids that are tested."""
    journal: Annotated[Path | None, Typed(metavar="FOLDER")] = None
    """Folder that every finding is written down in; what was stopped is taken up there."""
    html: Annotated[Path | None, Typed(metavar="FILE")] = None
    """File for a web page of the result."""
    document: Annotated[Path | None, Typed(words=("--from",), metavar="FILE.json")] = None
    """Result that ``--out`` has written: it is shown, and nothing is measured."""
    independent: Annotated[Path | None, Typed(metavar="PROGRAM.py")] = None
    """Program that measures claims by its own code and prints what it finds as JSON: the claims
    that it knows are judged, and both lie side by side; status 1 if they differ."""
    list: bool = False
    """List the claims; test none of them."""


verify = function_with(VerifyOptions, VerifyResult, Saved, Common)

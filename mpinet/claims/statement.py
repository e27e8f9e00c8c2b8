"""Claims: statements of a paper, their formulas, and the measurements that test them.

A claim has a formula (what the paper says at a point), a measurement on the emulator, a relation
that has to hold between the two, and a grid of points to try. A refuted one has in the same row the
error that refutes it, what its failing points have in common, and the statement as it holds
(`Corrected`). The decorator `claim` makes a claim of the function that measures; `unsettled`
records one that cannot be measured, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypedDict, Unpack, cast, overload

from mpinet.base.fielddocs import described
from mpinet.claims.grid import Point, PointGrid, once
from mpinet.claims.quotation import Quotation
from mpinet.claims.relation import FACTS, RELATIONS
from mpinet.errors import OutOfReach, UsageError

__all__ = [
    "Claim",
    "Corrected",
    "Measured",
    "OutOfReach",
    "Predicate",
    "claim",
    "section",
    "unsettled",
]

Predicate = Callable[..., bool]
"""Property of a point: a function of the point's arguments that returns a bool."""


@described
@dataclass(frozen=True)
class Measured:
    """A measured value, and the place on the network at which it was found."""

    value: Any
    """The value to compare with the claimed one."""
    where: dict[str, Any] = field(default_factory=dict)
    """The witness: names and numbers of nodes, pairs, busses, .."""


AS_IT_HOLDS = "as it holds"
"""The place of a corrected statement: no page of the paper."""

BEYOND = "beyond the paper"
"""The place of a statement of ours that no paper makes."""

BESIDE = "beside the optimum"
"""The place of a row of ours that sets the fewest steps beside those that a paper states."""

OURS = (AS_IT_HOLDS, BEYOND, BESIDE)
"""Places of rows that are no statements of the paper."""


@described
@dataclass(frozen=True)
class Corrected:
    """A refuted statement as it holds; it is measured where and how its row is, by default."""

    id: str
    """Id of the corrected statement in the ledger."""
    statement: str
    """Corrected statement in our words."""
    claimed: Any = None
    """Value of the corrected statement, or its formula, as in `Claim`. Default: that of the refuted
    claim; a fact needs none."""
    relation: str = "="
    """Relation of the corrected statement, as in `Claim`."""
    measured: Callable[..., Any] | None = None
    """Measurement of the corrected statement, as in `Claim`. Default: that of the refuted claim."""
    grid: PointGrid | None = None
    """Points of the corrected statement. Default: those of the refuted claim."""
    cost: Callable[..., float] | None = None
    """Cost of a point, as in `Claim`. Default: that of the refuted claim."""
    tolerance: float | None = None
    """Largest difference of the two values, as in `Claim`. Default: that of the refuted claim."""
    measures: bool | None = None
    """True if a network is measured, as in `Claim`. Default: that of the refuted claim."""
    note: str = ""
    """Note on the corrected statement, as in `Claim`."""

    def instead_of(self, refuted: Claim) -> Claim:
        """The claim that takes the place of the refuted one."""
        said: dict[str, Any] = {k: value for k, value in vars(self).items() if value is not None}
        # A fact is claimed as true, and the formula of the refuted claim would turn it into a
        # comparison.
        inherited = refuted.claimed if self.relation not in FACTS else None
        said["claimed"] = _value(self.id, self.relation, said.get("claimed", inherited))
        return replace(
            refuted,
            **said,
            place=AS_IT_HOLDS,
            # The correction is expected to hold, so it inherits neither the error nor the
            # description of failing points.
            cause="",
            grade="",
            corrects=refuted.id,
            degenerate=None,
            fails_where=None,
            corrected=None,
        )


@described
@dataclass(frozen=True)
class Claim:
    """A checkable statement of a paper, with the way to check it."""

    id: str
    """Id of the claim in the ledger."""
    place: str
    """Place in the paper: section, theorem, figure, table."""
    statement: str
    """The statement in our words."""
    relation: str
    """``measured RELATION claimed`` has to hold; see `mpinet.claims.relation.RELATIONS`."""
    claimed: Any
    """The paper's value, or its formula: called with a point's arguments. Type: object, or
    callable."""
    measured: Callable[..., Any] | None
    """The measurement on the emulator: called with a point's arguments, gives a value or
    `Measured`; raises `OutOfReach` where it would take more than there is."""
    grid: PointGrid
    """The points."""
    tolerance: float = 0.0
    """Largest difference of the two: relative for ``~``, absolute for ``=``."""
    cost: Callable[..., float] | None = None
    """About how long a point takes, in any unit that the paper's claims share; called with the
    point's arguments. It orders the work, nothing else."""
    reason: str = ""
    """Reason why the claim cannot be tested, where there is no measurement."""
    paper: str = ""
    """The room or file that the claim is from."""
    note: str = ""
    """Note for readers: corrections of the printed text, the reading taken, a reconstruction, a
    stand-in."""
    reading: str = ""
    """The reading that is tested, where the paper's words leave a choice."""
    quotation: Quotation | None = None
    """The paper's own words; the ledger fills it in."""
    cause: str = ""
    """The error of the paper that refutes it, by its name in the table ``causes.csv`` of the
    folder: claims that fail for one reason share it."""
    grade: str = ""
    """The grade of that error, one of `mpinet.claims.cause.GRADES`; the ledger fills it in."""
    corrects: str = ""
    """Id of the refuted claim that this corrected statement takes the place of."""
    measures: bool = True
    """True if a network is measured; False if formulas are compared with formulas."""
    degenerate: Predicate | None = None
    """Returns True if a point is degenerate, so that the paper hardly meant it; called with the
    point's arguments."""
    fails_where: tuple[str, Predicate] | None = None
    """Common property of the points at which the claim fails: in words, and as a predicate of a
    point's arguments. The predicate is counted over the measured points."""
    kept: bool = False
    """True if the ledger's row keeps the values of all points, for a table or a plot."""
    beats: str = ""
    """Id of the claim whose stated steps this row compares with the fewest possible steps. The row
    is no statement of the paper, and fails if fewer steps are possible."""
    corrected: Claim | None = None
    """The corrected statement that takes the place of this one, where it stands in its row."""

    @property
    def ours(self) -> bool:
        """True if the row is ours: no statement of the paper."""
        return self.place in OURS or bool(self.corrects)

    @property
    def measurement(self) -> Callable[..., Any]:
        """Measurement of a claim that can be tested."""
        assert self.measured is not None
        return self.measured

    def claimed_at(self, point: Point) -> Any:
        """Return the paper's value at a point."""
        return self.claimed(**point) if callable(self.claimed) else self.claimed


class Said(TypedDict, total=False):
    """Keywords that a claim is made with, as in `Claim`."""

    claimed: Any
    relation: str
    place: str
    grid: PointGrid | None
    tolerance: float
    cost: Callable[..., float] | None
    note: str
    reading: str
    cause: str
    corrects: str
    measures: bool
    degenerate: Predicate | None
    fails_where: tuple[str, Predicate] | None
    corrected: Corrected | None
    beats: str


@overload
def claim(
    id: str, *, statement: str, measured: Callable[..., Any], **said: Unpack[Said]
) -> Claim: ...
@overload
def claim(
    id: str, *, statement: str, **said: Unpack[Said]
) -> Callable[[Callable[..., Any]], Claim]: ...
def claim(
    id: str, *, statement: str, measured: Callable[..., Any] | None = None, **said: Unpack[Said]
) -> Any:
    """Make a claim from its measurement: the decorated function, or an existing one.

    Parameters
    ----------
    id, statement, claimed, relation, place, tolerance, cost
        As in `Claim`. A relation that states a fact needs no `claimed`.
    note, reading, cause, corrects, measures, degenerate, fails_where, beats
        As in `Claim`: what else is known of it.
    corrected : Corrected, optional
        The statement as it holds, where this one is refuted: the ledger has it as a claim, too.
    measured : callable, optional
        As in `Claim`; the claim is then returned at once. Default: the function that is decorated.
    grid : PointGrid, optional
        As in `Claim`. Default: the measurement takes no arguments.

    Raises
    ------
    UsageError
        There is no such relation, or nothing is claimed.

    Examples
    --------
    >>> from mpinet.claims import claim, over
    >>> from mpinet.measure import connectivity, diameter
    >>> @claim("RING-D", statement="a ring's diameter is N//2", claimed=lambda n: n // 2,
    ...        grid=over(n=range(3, 40)))
    ... def ring_diameter(n):
    ...     return diameter(f"ring:{n}")

    Where a measure takes the claim's arguments as they are, the claim is a row of a tuple:

    >>> NETWORKS = over(topology=("ring:5", "ring:8"))
    >>> ROWS = (
    ...     claim("RING-4", statement="no two nodes are more than 4 hops apart", relation="<=",
    ...           claimed=4, grid=NETWORKS, measured=diameter),
    ...     claim("RING-K", statement="one fault cuts no ring", claimed=2, grid=NETWORKS,
    ...           measured=connectivity),
    ... )
    """
    relation = said.get("relation", "=")
    said["claimed"] = _value(id, relation, said.get("claimed"))
    corrected, grid = said.pop("corrected", None), said.pop("grid", None) or once()
    known: dict[str, Any] = {"place": "", "relation": relation, **said}

    def make(measurement: Callable[..., Any]) -> Claim:
        made = Claim(id=id, statement=statement, measured=measurement, grid=grid, **known)
        return replace(made, corrected=corrected.instead_of(made)) if corrected else made

    return make if measured is None else make(measured)


class Making(Protocol):
    """Making of a claim, as by `claim`."""

    @overload
    def __call__(
        self, id: str, *, statement: str, measured: Callable[..., Any], **said: Unpack[Said]
    ) -> Claim: ...
    @overload
    def __call__(
        self, id: str, *, statement: str, **said: Unpack[Said]
    ) -> Callable[[Callable[..., Any]], Claim]: ...


def section(**shared: Unpack[Said]) -> Making:
    """Return a `claim` for the statements of a section of a paper, with what they share.

    Parameters
    ----------
    **shared
        Keywords of `claim`, such as the place; a statement's own go before them.

    Examples
    --------
    >>> from mpinet.claims import over, section
    >>> from mpinet.measure import connectivity, diameter
    >>> claim_2_1 = section(place="2.1", claimed=2, grid=over(topology=("ring:4", "ring:5")))
    >>> ROWS = (
    ...     claim_2_1("RING-2", statement="the diameter is 2", measured=diameter),
    ...     claim_2_1("RING-K", statement="one fault cuts no ring", measured=connectivity),
    ... )
    >>> ROWS[1].place, ROWS[1].claimed
    ('2.1', 2)
    """
    return cast(Making, partial(claim, **shared))


def _value(id: str, relation: str, claimed: Any) -> Any:
    """Return what is claimed; raise `UsageError` if nothing is, or if there is no such relation."""
    if relation not in RELATIONS:
        raise UsageError(
            f"Claim {id} has the relation {relation!r}; there are {' '.join(RELATIONS)}."
        )
    if claimed is None and relation not in FACTS:
        raise UsageError(f"Claim {id} does not say what is claimed.")
    return True if claimed is None else claimed


def unsettled(
    id: str, *, place: str, statement: str, reason: str, relation: str = "-", note: str = ""
) -> Claim:
    """Make a claim that stays open: it cannot be tested, for the reason given."""
    return Claim(id, place, statement, relation, None, None, once(), reason=reason, note=note)

"""Claims: statements of a paper, their formulas, and the measurements that test them.

A claim has a formula (the paper's value at a point), a measurement on the emulator, a relation
required between both values, and a grid of points to test. A refuted claim also names its error,
the common property of its failing points, and the corrected statement (`Corrected`). The decorator
`claim` makes a claim from its measuring function. `unsettled` records a claim that cannot be
measured, with the reason.
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
    """The value to compare with the claimed value."""
    where: dict[str, Any] = field(default_factory=dict)
    """The witness: names and numbers of nodes, pairs, busses, .."""


AS_IT_HOLDS = "as it holds"
"""The place of corrected statements, which are on no page of the paper."""

BEYOND = "beyond the paper"
"""The place of our own statements that no paper makes."""

BESIDE = "beside the optimum"
"""The place of our own rows with the fewest possible steps, next to a paper's stated steps."""

OURS = (AS_IT_HOLDS, BEYOND, BESIDE)
"""Places of rows that are not statements of the paper."""


@described
@dataclass(frozen=True)
class Corrected:
    """Corrected version of a refuted statement; unset fields are taken from the refuted claim."""

    id: str
    """Id of the corrected statement in the ledger."""
    statement: str = ""
    """Corrected statement in our words. Default: from the paper's table, as in `Claim`."""
    claimed: Any = None
    """Value of the corrected statement, or its formula, as in `Claim`. Default: the value of the
    refuted claim; not needed for a fact.
    """
    relation: str = "="
    """Relation of the corrected statement, as in `Claim`."""
    measured: Callable[..., Any] | None = None
    """Measurement of the corrected statement, as in `Claim`. Default: from the refuted claim."""
    grid: PointGrid | None = None
    """Points of the corrected statement. Default: from the refuted claim."""
    cost: Callable[..., float] | None = None
    """Cost of a point, as in `Claim`. Default: from the refuted claim."""
    tolerance: float | None = None
    """Largest difference of the two values, as in `Claim`. Default: from the refuted claim."""
    measures: bool | None = None
    """True if a network is measured, as in `Claim`. Default: from the refuted claim."""
    note: str = ""
    """Note on the corrected statement, as in `Claim`."""

    def instead_of(self, refuted: Claim) -> Claim:
        """Return the claim that replaces the refuted claim."""
        said: dict[str, Any] = {k: value for k, value in vars(self).items() if value is not None}
        # A fact is claimed as true, and the formula of the refuted claim would turn it into a
        # comparison.
        inherited = refuted.claimed if self.relation not in FACTS else None
        said["claimed"] = _value(self.id, self.relation, said.get("claimed", inherited))
        return replace(
            refuted,
            **said,
            place=AS_IT_HOLDS,
            # The correction is expected to hold, and inherits neither the error nor the description
            # of failing points.
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
    """A testable statement of a paper, with its measurement."""

    id: str
    """Id of the claim in the ledger."""
    place: str
    """Place in the paper: section, theorem, figure, table."""
    statement: str
    """The statement in our words; empty if it stands in the table ``statements.csv`` of the paper's
    folder.
    """
    relation: str
    """Required relation ``measured RELATION claimed``; see `mpinet.claims.relation.RELATIONS`."""
    claimed: Any
    """The paper's value, or its formula, called with a point's arguments. Type: object, or
    callable.
    """
    measured: Callable[..., Any] | None
    """The measurement on the emulator, called with a point's arguments. It returns a value or
    `Measured`, and raises `OutOfReach` if it would take too long or too much memory.
    """
    grid: PointGrid
    """Points at which the claim is tested."""
    tolerance: float = 0.0
    """Largest difference of the two values: relative for ``~``, absolute for ``=``."""
    cost: Callable[..., float] | None = None
    """Approximate duration of a point, in a unit shared by the paper's claims; called with the
    point's arguments. It only affects the order of the work.
    """
    reason: str = ""
    """Reason why the claim cannot be tested, if it has no measurement."""
    paper: str = ""
    """Room or file of the claim."""
    note: str = ""
    """Note for readers, e.g. on corrections of the printed text, the chosen reading, a
    reconstruction, or a substitute.
    """
    reading: str = ""
    """The tested reading, if the paper's words are ambiguous."""
    quotation: Quotation | None = None
    """The paper's own words; filled in by the ledger."""
    cause: str = ""
    """Name of the paper's error that refutes the claim, from the table ``causes.csv`` of the
    folder. Claims with the same error share the name.
    """
    grade: str = ""
    """Grade of this error, one of `mpinet.claims.cause.GRADES`; filled in by the ledger."""
    corrects: str = ""
    """Id of the refuted claim that this corrected statement replaces."""
    measures: bool = True
    """True if a network is measured; False if formulas are compared with formulas."""
    degenerate: Predicate | None = None
    """Function that returns True for degenerate points, which the paper hardly meant; called with
    the point's arguments.
    """
    fails_where: tuple[str, Predicate] | None = None
    """Common property of the failing points: in words, and as a predicate of a point's arguments.
    The predicate is counted over the measured points.
    """
    kept: bool = False
    """True if the ledger's row keeps the values of all points, for a table or a plot."""
    beats: str = ""
    """Id of the claim whose stated steps this row compares with the fewest possible steps. The row
    is not a statement of the paper, and fails if fewer steps are possible.
    """
    corrected: Claim | None = None
    """Corrected statement that replaces this claim, if defined in the same row."""

    @property
    def ours(self) -> bool:
        """True if the row is our own, not a statement of the paper."""
        return self.place in OURS or bool(self.corrects)

    @property
    def measurement(self) -> Callable[..., Any]:
        """The measurement of a testable claim."""
        assert self.measured is not None
        return self.measured

    def claimed_at(self, point: Point) -> Any:
        """Return the claimed value at a point."""
        return self.claimed(**point) if callable(self.claimed) else self.claimed


class Said(TypedDict, total=False):
    """Keyword arguments of `claim`, as in `Claim`."""

    claimed: Any
    relation: str
    place: str
    statement: str
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
def claim(id: str, *, measured: Callable[..., Any], **said: Unpack[Said]) -> Claim: ...
@overload
def claim(id: str, **said: Unpack[Said]) -> Callable[[Callable[..., Any]], Claim]: ...
def claim(id: str, *, measured: Callable[..., Any] | None = None, **said: Unpack[Said]) -> Any:
    """Make a claim from its measurement: the decorated function, or an existing function.

    Parameters
    ----------
    id, statement, claimed, relation, place, tolerance, cost
        As in `Claim`. A relation of facts needs no `claimed`.
    note, reading, cause, corrects, measures, degenerate, fails_where, beats
        Further properties, as in `Claim`.
    corrected : Corrected, optional
        The corrected statement, if this claim is refuted; the ledger lists it as a claim of its
        own.
    measured : callable, optional
        As in `Claim`; the claim is then returned directly. Default: the decorated function.
    grid : PointGrid, optional
        As in `Claim`. Default: the measurement takes no arguments.

    Raises
    ------
    UsageError
        The relation does not exist, or no value is claimed.

    Examples
    --------
    >>> from mpinet.claims import claim, over
    >>> from mpinet.measure import connectivity, diameter
    >>> @claim("RING-D", statement="a ring's diameter is N//2", claimed=lambda n: n // 2,
    ...        grid=over(n=range(3, 40)))
    ... def ring_diameter(n):
    ...     return diameter(f"ring:{n}")

    If a measure accepts the claim's arguments unchanged, the claim is a row of a tuple:

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
    known: dict[str, Any] = {"place": "", "statement": "", "relation": relation, **said}

    def make(measurement: Callable[..., Any]) -> Claim:
        made = Claim(id=id, measured=measurement, grid=grid, **known)
        return replace(made, corrected=corrected.instead_of(made)) if corrected else made

    return make if measured is None else make(measured)


class Making(Protocol):
    """Type of `claim` and of the functions that `section` returns."""

    @overload
    def __call__(self, id: str, *, measured: Callable[..., Any], **said: Unpack[Said]) -> Claim: ...
    @overload
    def __call__(self, id: str, **said: Unpack[Said]) -> Callable[[Callable[..., Any]], Claim]: ...


def section(**shared: Unpack[Said]) -> Making:
    """Return a `claim` with default keywords, for the statements of one section of a paper.

    Parameters
    ----------
    **shared
        Default keywords of `claim`, for example the place; a statement's own keywords take
        precedence.

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
    """Return the claimed value; True for a fact without a value.

    An unknown relation raises `UsageError`, and a missing value of a claim that is no fact.
    """
    if relation not in RELATIONS:
        raise UsageError(
            f"Claim {id} has the relation {relation!r}; possible are {' '.join(RELATIONS)}."
        )
    if claimed is None and relation not in FACTS:
        raise UsageError(f"Claim {id} has no claimed value.")
    return True if claimed is None else claimed


def unsettled(
    id: str, *, place: str, statement: str, reason: str, relation: str = "-", note: str = ""
) -> Claim:
    """Make a claim that stays open because it cannot be tested, for the given reason."""
    return Claim(id, place, statement, relation, None, None, once(), reason=reason, note=note)

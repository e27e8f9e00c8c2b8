"""Result class of all collectives."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from mpinet.commands.algorithms import COLLECTIVES
from mpinet.commands.fields import (
    Count,
    GroupFound,
    Hash,
    Phase,
    Positive,
    Skipped,
    When,
    hints_of,
    plain_of,
)
from mpinet.commands.result import Result

SEVERAL = When("of several items, of groups, with faults, or with ``--switches forward``,")


class CollectiveResult(Result):
    """Result of a collective; the table in `mpinet.commands.algorithms` lists the fields of each.

    The field ``value`` is read as ``result["value"]``.
    """

    items: Annotated[Positive, SEVERAL]
    operator: str
    algorithm: str
    steps: Count
    messages: Count
    informed: Count
    lower_bound: Count | None
    lower_by: Annotated[str, "as of ``broadcast``"]
    correct: bool
    phases: list[Phase]
    by_orbit: Annotated[
        bool,
        When("by ``translations``"),
        "true if one processor's messages were checked for all",
    ]
    skipped: Skipped
    schedule_sha256: Annotated[
        Hash, When("with ``--schedule``, or ``--schedule-out``, which writes the hashed lines,")
    ]
    bandwidth: Annotated[tuple[Positive, Positive] | None, SEVERAL, "items and steps"]
    intact_steps: Annotated[Count, When("with ``--faults``"), "steps without the faults"]
    intact_bound: Annotated[Count | None, When("with ``--faults``"), "their lower bound"]
    groups: Annotated[list[GroupFound], When("of several groups"), "each with its steps alone"]

    beside_: ClassVar = {"value": Annotated[int, "of item 0, 0..2^64-1"]}

    @classmethod
    def hints_for(cls, command: str) -> dict[str, Any]:
        """Return the types of the result fields of one collective, in order."""
        # Results define `__hash__`, which makes mypy reject this class as an argument.
        kind: Any = cls
        row, hints = COLLECTIVES[command], hints_of(kind)
        some = {name for each in COLLECTIVES.values() for name in each.shows} - {*row.shows}
        found = {name: hint for name, hint in hints.items() if name not in some}
        found |= {name: Annotated[found[name], SEVERAL] for name in row.hides}
        notes = {name: Annotated[plain_of(hints[name]), note] for name, note in row.notes.items()}
        return found | notes

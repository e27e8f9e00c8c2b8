"""Verification of claims: the points of all grids are dealt to the ranks, each to one rank."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mpinet.claims.finding import Finding, find
from mpinet.claims.grid import Point, argument_text, point_text
from mpinet.claims.statement import Claim
from mpinet.claims.verdict import Verdict, judge
from mpinet.errors import UsageError
from mpinet.experiments.dealing import deal
from mpinet.experiments.journal import Journal
from mpinet.machine.transport import Local


@dataclass(frozen=True)
class Task:
    """A claim at a point."""

    claim: Claim
    point: Point

    @property
    def key(self) -> str:
        """Key of the task in the journal."""
        return f"{self.claim.id} {point_text(self.point)}"

    @property
    def subject(self) -> str:
        """Network or table of the task; one rank gets all tasks with the same subject."""
        network = self.point.get("topology")
        if network:
            return str(network)
        return point_text(self.point) or self.claim.grid.text or self.claim.id

    @property
    def cost(self) -> float:
        """Estimated time of the task, in the unit of its paper."""
        return self.claim.cost(**self.point) if self.claim.cost else 1.0


def verify(
    claims: Sequence[Claim],
    budget: str,
    transport: Local,
    at: Mapping[str, str] | None = None,
    journal: Journal | None = None,
    source: str = "",
    watch: Callable[..., None] | None = None,
) -> list[Verdict]:
    """Verify claims (collective).

    Parameters
    ----------
    claims : sequence of Claim
        The claims, the same on all ranks.
    budget : str
        ``"quick"`` or ``"full"``.
    transport : Local
        The ranks.
    at : mapping, optional
        Selects the points of the full grids whose printed arguments match, and their claims.
    journal : Journal, optional
        Holds findings of earlier runs, and receives the new findings.
    source : str
        As in `judge`.
    watch : callable, optional
        Called with the number of tasks done by this rank, and the number of all its tasks, if
        known.

    Returns
    -------
    list of Verdict
        On rank 0, in the order of the claims; empty on other ranks.

    Raises
    ------
    UsageError
        No point matches `at`.
    """
    tasks = tasks_of(claims, budget, at)
    if at:
        meant = {task.claim.id for task in tasks}
        claims = [claim for claim in claims if claim.id in meant]
    by_key = {task.key: task for task in tasks}

    def measured(key: str, ranks: Local) -> dict[str, Any]:
        return asdict(find(by_key[key].claim, by_key[key].point))

    dealt = deal(
        [[task.key for task in group] for group in subjects(tasks)],
        measured,
        transport,
        journal,
        watch=watch or (lambda *done: None),
        # The machine may cause an error, for example by lack of memory. A resumed run must measure
        # the point again.
        lasts=lambda found: not found["error"],
    )
    if transport.rank != 0:
        return []
    return list(_verdicts(claims, tasks, dealt.found, source))


def tasks_of(
    claims: Sequence[Claim], budget: str, at: Mapping[str, str] | None = None
) -> list[Task]:
    """Return one task for each point of all claims, in the ledger's order."""
    tasks = [
        Task(claim, point)
        for claim in claims
        if claim.measured is not None
        # A witness from a user's replay command often lies outside the quick budget.
        for point in claim.grid.points("full" if at else budget)
        if not at or _is_at(point, at)
    ]
    if at and not tasks:
        wanted = " ".join(f"{name}={value}" for name, value in at.items())
        raise UsageError(f"--at {wanted}: no point of the claims' full grids has these values.")
    return tasks


def _is_at(point: Point, at: Mapping[str, str]) -> bool:
    printed = {name: argument_text(value) for name, value in point.items()}
    return all(printed.get(name) == value for name, value in at.items())


def subjects(tasks: Sequence[Task]) -> list[list[Task]]:
    """Group the tasks by subject, the largest estimated share of a paper's cost first."""
    groups: dict[str, list[Task]] = {}
    papers: defaultdict[str, float] = defaultdict(float)
    for task in tasks:
        groups.setdefault(task.subject, []).append(task)
        papers[task.claim.paper] += task.cost

    def share(group: list[Task]) -> float:
        return sum(task.cost / (papers[task.claim.paper] or 1.0) for task in group)

    return sorted(groups.values(), key=share, reverse=True)


def _verdicts(
    claims: Sequence[Claim], tasks: Sequence[Task], known: Mapping[str, Any], source: str
) -> Iterator[Verdict]:
    """Yield a verdict for each claim."""
    own: dict[str, list[Task]] = {claim.id: [] for claim in claims}
    for task in tasks:
        own[task.claim.id].append(task)
    for claim in claims:
        points = [task.point for task in own[claim.id]]
        found = [Finding(**known[task.key]) for task in own[claim.id]]
        of = len(claim.grid.points("full"))
        yield judge(claim, points, found, of, source)

"""Judge claims: ranks take the points of their grids one after the other, each on one rank alone.

The result does not depend on who measures what, only the time does.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from mpinet.claims.finding import Finding, find
from mpinet.claims.grid import Point, argument_text, point_text
from mpinet.claims.journal import Journal, Key, findings_in
from mpinet.claims.statement import Claim
from mpinet.claims.verdict import Verdict, judge
from mpinet.errors import UsageError
from mpinet.machine.transport import STOP, Local


@dataclass(frozen=True)
class Task:
    """A claim at a point."""

    claim: Claim
    point: Point

    @property
    def key(self) -> Key:
        """Its key in the journal."""
        return self.claim.id, point_text(self.point)

    @property
    def subject(self) -> str:
        """Its network, or table: tasks about one go to one rank, which may remember measures."""
        network = self.point.get("topology")
        if network:
            return str(network)
        return point_text(self.point) or self.claim.grid.text or self.claim.id

    @property
    def cost(self) -> float:
        """About how long it takes."""
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
    """Judge claims (collective).

    Parameters
    ----------
    claims : sequence of Claim
        The same on all ranks.
    budget : str
        ``"quick"`` or ``"full"``.
    transport : Local
        The ranks.
    at : mapping, optional
        Only points of the full grids whose arguments are printed so, and claims that have some.
    journal : Journal, optional
        Knows findings of earlier runs, and takes the new ones.
    source : str
        As in `judge`.
    watch : callable, optional
        Called with the number of tasks that this rank has done, and that of all where it is known.

    Returns
    -------
    list of Verdict
        On rank 0, in the order of the claims; empty elsewhere.

    Raises
    ------
    UsageError
        No point is so.
    """
    tasks = tasks_of(claims, budget, at)
    if at:
        meant = {task.claim.id for task in tasks}
        claims = [claim for claim in claims if claim.id in meant]
    known = findings_in(transport.share(journal.known() if journal else b""))
    left = subjects([task for task in tasks if task.key not in known])
    total = sum(map(len, left)) if transport.size == 1 else None  # ranks take what is next
    done = 0
    for number in transport.dealt(len(left)):
        for task in left[number]:
            if transport.wish == STOP:
                break
            known[task.key] = find(task.claim, task.point)
            if journal is not None:
                journal.write(task.key, known[task.key])
            done += 1
            if watch is not None:
                watch(done, total)
    known = _gather(known, transport)
    if transport.rank != 0:
        return []
    return list(_verdicts(claims, tasks, known, source))


def tasks_of(
    claims: Sequence[Claim], budget: str, at: Mapping[str, str] | None = None
) -> list[Task]:
    """The points of all claims, in the ledger's order."""
    tasks = [
        Task(claim, point)
        for claim in claims
        if claim.measured is not None
        for point in claim.grid.points("full" if at else budget)
        if not at or _is_at(point, at)
    ]
    if at and not tasks:
        wanted = " ".join(f"{name}={value}" for name, value in at.items())
        raise UsageError(f"--at {wanted}: no point of the claims' full grids is so.")
    return tasks


def _is_at(point: Point, at: Mapping[str, str]) -> bool:
    printed = {name: argument_text(value) for name, value in point.items()}
    return all(printed.get(name) == value for name, value in at.items())


def subjects(tasks: Sequence[Task]) -> list[list[Task]]:
    """The tasks by subject, those that are said to take the largest share of their paper first."""
    groups: dict[str, list[Task]] = {}
    papers: defaultdict[str, float] = defaultdict(float)
    for task in tasks:
        groups.setdefault(task.subject, []).append(task)
        papers[task.claim.paper] += task.cost

    def share(group: list[Task]) -> float:
        return sum(task.cost / (papers[task.claim.paper] or 1.0) for task in group)

    return sorted(groups.values(), key=share, reverse=True)


def _gather(findings: Mapping[Key, Finding], transport: Local) -> dict[Key, Finding]:
    """The findings of all ranks, on rank 0."""
    rows = [[list(key), asdict(found)] for key, found in findings.items()]
    texts = transport.gather(json.dumps(rows).encode())
    return {tuple(key): Finding(**found) for text in texts for key, found in json.loads(text)}


def _verdicts(
    claims: Sequence[Claim], tasks: Sequence[Task], known: Mapping[Key, Finding], source: str
) -> Iterator[Verdict]:
    """A verdict for each claim."""
    points: dict[str, list[Point]] = {claim.id: [] for claim in claims}
    for task in tasks:
        points[task.claim.id].append(task.point)
    for claim in claims:
        own = points[claim.id]
        found = [known[claim.id, point_text(point)] for point in own]
        of = len(claim.grid.points("full"))
        yield judge(claim, own, found, of, source)

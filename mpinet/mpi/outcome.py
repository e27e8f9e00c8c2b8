"""The outcome of a script's run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mpinet.mpi.checks.findings import Finding
from mpinet.mpi.checks.gathering import gathered_findings
from mpinet.mpi.hot import hot
from mpinet.mpi.traced import Traced, traced
from mpinet.mpi.world.accounts import Account, Shares, books, numbered, union
from mpinet.mpi.world.choice_points import ChoiceMail
from mpinet.mpi.world.onesided import Conflict
from mpinet.mpi.world.world import World
from mpinet.process.telling import gathered

NAMED = 10
"""Maximum number of processors with unreceived messages in the report."""


@dataclass(frozen=True)
class Conflicting:
    """Conflicting window accesses of two lines at some target in one epoch."""

    said: str
    """Description of the accesses."""
    first: Account
    """Account of the first access."""
    other: Account
    """Account of the second access."""
    target: int
    """Target processor of the first conflict."""
    begin: int
    """First byte of the first conflict."""
    end: int
    """End of the bytes of the first conflict."""
    times: int
    """Number of conflicts."""


class DrawnReceives(NamedTuple):
    """Receives of one kind on a line with several candidate messages."""

    account: Account
    """Account of the calls."""
    times: int
    """Number of receives with several candidates."""
    most: int
    """Largest number of candidate messages of a receive."""


@dataclass(frozen=True)
class ScriptOutcome:
    """Outcome of a run; accounts and output are valid on rank 0 only."""

    processors: int
    """Number of processors."""
    steps: int
    """Number of steps made by the machine."""
    hops: int
    """Total number of hops of all messages."""
    unreceived: int
    """Number of messages unreceived at the ends of their processors."""
    unreceived_at: list[tuple[int, int]]
    """The first processors with unreceived messages, and the number of each."""
    output: str
    """SHA-256 of the processors' standard output."""
    accounts: list[Account]
    """Costs by kind of call and line."""
    conflicts: list[Conflicting]
    """Conflicting window accesses."""
    drawn: list[DrawnReceives]
    """Receives with several candidate messages, if the order was chosen."""
    traced: Traced | None = None
    """On rank 0: the recorded program of messages; None if not recorded."""
    hot: dict[str, Any] | None = None
    """Report on slow lines, as returned by `hot.hot`; None without metering."""
    findings: Sequence[Finding] | None = None
    """On rank 0: findings of the checks; None in an unchecked run."""
    failed: Sequence[tuple[int, int, int]] = ()
    """Failed processors: number, step of the failure, and step at which it became known (-1:
    never).
    """

    @property
    def kinds(self) -> list[Account]:
        """Costs by kind of call, summed over all lines, the most expensive first."""
        return by_kind(self.accounts)


def outcome(world: World) -> ScriptOutcome:
    """Gather the outcome from all ranks (collective)."""
    machine, unreceived = world.machine, world.exits.unreceived
    left = np.flatnonzero(unreceived)
    left_at = list(zip(machine.nodes[left].tolist(), unreceived[left].tolist(), strict=True))
    opened = [account.row for account in world.accounts.accounts]
    booked = [(number, account.row) for number, account in world.transit.arrivals.booked.items()]
    shaken = world.mail.drawn if isinstance(world.mail, ChoiceMail) else {}
    draws = [(number, *counts) for number, counts in shaken.items()]
    own = opened, booked, sorted(left_at)[:NAMED], world.one_sided.conflicts, draws
    gathered_rows = gathered(machine.transport, own)
    shares = [[Account.of(row) for row in rows] for rows, *_ in gathered_rows]
    arrivals = [{number: Account.of(row) for number, row in rows} for _, rows, *_ in gathered_rows]
    accounts = books(shares, arrivals)
    hops, total = machine.sum(sum(account.hops for account in accounts), int(unreceived.sum()))
    found = sorted((node, count) for _, _, places, *_ in gathered_rows for node, count in places)[
        :NAMED
    ]
    steps, output = world.transit.now, world.exits.output
    conflicts = _conflicts(shares, [row for *_, rows, _ in gathered_rows for row in rows])
    drawn = _drawn(shares, [row for *_, rows in gathered_rows for row in rows])
    counts = world.size, steps, hops, total, found, output
    return ScriptOutcome(
        *counts,
        accounts,
        conflicts,
        drawn,
        traced(world, shares),
        hot(world, shares),
        None if world.findings is None else gathered_findings(world, None),
        world.recovery.rows,
    )


def _conflicts(shares: Shares, rows: Iterable[Sequence[Any]]) -> list[Conflicting]:
    """Merge the conflicts of all ranks by lines."""
    found: dict[Any, Conflicting] = {}
    for *words, times in rows:
        conflict = Conflict(*words)
        first, other = numbered(shares, conflict.first), numbered(shares, conflict.other)
        key = *_called(first), *_called(other), conflict.said
        here = conflict.target, conflict.begin, conflict.end
        known = found.get(key)
        if known is not None:
            # The lowest place represents all, because the first one in time depends on the hosting.
            here = min(here, (known.target, known.begin, known.end))
            times += known.times
        found[key] = Conflicting(conflict.said, first, other, *here, times)
    return [found[key] for key in sorted(found)]


def _drawn(shares: Shares, rows: Iterable[Sequence[int]]) -> list[DrawnReceives]:
    """Merge the receives with several candidates of all ranks by lines."""
    found: dict[Any, DrawnReceives] = {}
    for number, times, most in rows:
        account = numbered(shares, number)
        known = found.get(_called(account), DrawnReceives(account, 0, 0))
        found[_called(account)] = DrawnReceives(account, known.times + times, max(known.most, most))
    return [found[key] for key in sorted(found)]


def _called(account: Account) -> tuple[str, int, str]:
    """Return file, line and call of an account."""
    return account.file, account.line, account.kind


def by_kind(accounts: Iterable[Account]) -> list[Account]:
    """Sum accounts by kind of call, the most expensive first; `file` and `line` are unused."""
    found: dict[str, Account] = {}
    for account in accounts:
        whole = found.setdefault(account.kind, Account(account.kind, "", 0))
        whole.calls += account.calls
        whole.sent += account.sent
        whole.messages += account.messages
        whole.hops += account.hops
        whole.intervals += account.intervals
    for whole in found.values():
        whole.intervals = union(whole.intervals)
    return sorted(
        found.values(), key=lambda book: (-book.steps, -book.hops, -book.calls, book.kind)
    )

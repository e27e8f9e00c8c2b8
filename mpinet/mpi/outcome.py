"""The outcome of a script's run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mpinet.mpi.hot import hot
from mpinet.mpi.traced import Traced, traced
from mpinet.mpi.world.accounts import Account, Shares, books, numbered, union
from mpinet.mpi.world.choice_points import ChoiceMail
from mpinet.mpi.world.onesided import Conflict
from mpinet.mpi.world.world import World
from mpinet.process.telling import gathered

NAMED = 10
"""Most processors with unreceived messages that are named."""


@dataclass(frozen=True)
class Conflicting:
    """Accesses on two lines that conflict at some target in one epoch."""

    said: str
    """Description of the accesses."""
    first: Account
    """Account of the access that came first."""
    other: Account
    """Account of the other access."""
    target: int
    """Processor of the first such conflict."""
    begin: int
    """First byte of the first such conflict."""
    end: int
    """End of the bytes of the first such conflict."""
    times: int
    """Number of such conflicts."""


class DrawnReceives(NamedTuple):
    """Receives of a kind, on a line, that could have got another message."""

    account: Account
    """The kind of call, and the line."""
    times: int
    """Number of such receives."""
    most: int
    """Most messages that such a receive could have got."""


@dataclass(frozen=True)
class ScriptOutcome:
    """Outcome of a run; on ranks other than 0 without accounts and output."""

    processors: int
    """Number of processors."""
    steps: int
    """Steps of the machine."""
    hops: int
    """Links that messages crossed, all messages together."""
    unreceived: int
    """Messages that processors have ended without."""
    unreceived_at: list[tuple[int, int]]
    """The first processors with such messages, and how many each."""
    output: str
    """The SHA-256 of what processors have printed to the standard output."""
    accounts: list[Account]
    """Costs of each kind of call on each line."""
    conflicts: list[Conflicting]
    """Accesses to windows that conflict."""
    drawn: list[DrawnReceives]
    """Receives that could have got another message, where orders were drawn."""
    traced: Traced | None = None
    """The script as a program of messages, if that was noted, on rank 0."""
    hot: dict[str, Any] | None = None
    """Report on the slow lines, as `hot.hot` returns it; None if that was not metered."""
    failed: Sequence[tuple[int, int, int]] = ()
    """Failed processors: number, step of the failure, step in which other processors knew of it
    (-1: never)."""

    @property
    def kinds(self) -> list[Account]:
        """Costs of each kind of call on all lines, the costliest first."""
        return by_kind(self.accounts)


def outcome(world: World) -> ScriptOutcome:
    """Bring together what all ranks know (collective)."""
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
        world.recovery.rows,
    )


def _conflicts(shares: Shares, rows: Iterable[Sequence[Any]]) -> list[Conflicting]:
    """Gather the conflicts by lines: a line has an account on every rank."""
    found: dict[Any, Conflicting] = {}
    for *words, times in rows:
        conflict = Conflict(*words)
        first, other = numbered(shares, conflict.first), numbered(shares, conflict.other)
        key = *_called(first), *_called(other), conflict.said
        here = conflict.target, conflict.begin, conflict.end
        known = found.get(key)
        if known is not None:
            # The lowest place stands for all, since which one came first depends on the hosting.
            here = min(here, (known.target, known.begin, known.end))
            times += known.times
        found[key] = Conflicting(conflict.said, first, other, *here, times)
    return [found[key] for key in sorted(found)]


def _drawn(shares: Shares, rows: Iterable[Sequence[int]]) -> list[DrawnReceives]:
    """Receives that could have got another message, by lines."""
    found: dict[Any, DrawnReceives] = {}
    for number, times, most in rows:
        account = numbered(shares, number)
        known = found.get(_called(account), DrawnReceives(account, 0, 0))
        found[_called(account)] = DrawnReceives(account, known.times + times, max(known.most, most))
    return [found[key] for key in sorted(found)]


def _called(account: Account) -> tuple[str, int, str]:
    """Return the call, the line and the file of an account."""
    return account.file, account.line, account.kind


def by_kind(accounts: Iterable[Account]) -> list[Account]:
    """Accounts summed by kind of call, the costliest first; `file` and `line` say nothing."""
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

"""The findings of all ranks, gathered when a checked run ends."""

from __future__ import annotations

from functools import cache

from mpinet.errors import Deadlock, MpinetError
from mpinet.mpi.checks.findings import Finding, Findings, LoggedCall, Site, merged
from mpinet.mpi.world.accounts import Account, numbered
from mpinet.mpi.world.world import World
from mpinet.process.telling import gathered


def gathered_findings(world: World, error: MpinetError | None) -> list[Finding]:
    """Return the findings of all ranks on rank 0, and an empty list elsewhere (collective).

    Parameters
    ----------
    world : World
        The run.
    error : MpinetError or None
        The error that has ended the run on all ranks, if any.
    """
    assert world.findings is not None
    if isinstance(error, Deadlock):
        _note_deadlock(world, error)
    own = [
        [account.row for account in world.accounts.accounts],
        world.findings.rows,
        world.findings.left,
        sorted(world.findings.withdrawn),
        world.one_sided.conflicts,
    ]
    rows = gathered(world.machine.transport, own)
    shares = [[Account.of(row) for row in accounts] for accounts, *_ in rows]
    withdrawn = {tuple(serial) for *_, serials, _ in rows for serial in serials}
    last = Findings(world.findings.checks)
    for _, _, left, _, conflicts in rows:
        for serial, processor, account in left:
            if tuple(serial) not in withdrawn:
                last.note("message-not-received", processor, [account])
        for target, first, other, _, _, said, _ in conflicts:
            last.note("accesses-conflict", target, [first, other], {"why": said})
    found = [row for _, findings, *_ in rows for row in findings]
    return merged(shares, found + last.rows, error is None) if rows else []


def gathered_calls(world: World) -> dict[int, list[LoggedCall]]:
    """Return the logged calls of all processors on rank 0, and nothing elsewhere (collective)."""
    accounts = [account.row for account in world.accounts.accounts]
    rows = gathered(world.machine.transport, (accounts, list((world.findings.log or {}).items())))
    shares = [[Account.of(row) for row in accounts] for accounts, _ in rows]

    @cache
    def site(number: int) -> Site:
        account = numbered(shares, number)
        return account.kind, account.file, account.line

    return {
        processor: [LoggedCall(site(number), content) for number, content in calls]
        for _, logs in rows
        for processor, calls in logs
    }


def _note_deadlock(world: World, error: Deadlock) -> None:
    """Record the calls in which processors wait (collective)."""
    assert world.findings is not None
    transport = world.machine.transport
    rows = sorted(row for rows in gathered(transport, world.waiting) for row in rows)
    places = list(dict.fromkeys(account for _, account in rows))
    if places:
        differs = "collectives that do not match" in str(error)
        rule = "collective-mismatch" if differs else "deadlock"
        world.findings.note(rule, rows[0][0], places)

"""A script's run as a program of messages, with the line of every operation."""

from __future__ import annotations

from typing import Any, NamedTuple

from mpinet.errors import UsageError
from mpinet.machine.timed.program import Builder, Program
from mpinet.mpi.world.accounts import Shares, numbered
from mpinet.mpi.world.logged_mail import BEGUN, LoggedMail, Noted
from mpinet.mpi.world.world import World
from mpinet.process.telling import gathered


class Traced(NamedTuple):
    """A program of messages, and of each of its operations the call with file and line."""

    program: Program
    calls: list[str]


def traced(world: World, shares: Shares) -> Traced | None:
    """Make a program of what all ranks have noted, on rank 0 (collective).

    A tag stands for what sends and receives of two processors have in common: the communicator,
    the sender's rank there, the tag. They are numbered from 0 as the sender first takes them.

    Parameters
    ----------
    world : World
        The run.
    shares : sequence of sequence of Account
        The accounts of all ranks.

    Returns
    -------
    Traced or None
        None on other ranks, and where nothing was noted.

    Raises
    ------
    UsageError
        The script accesses windows, sends partitioned messages, or does what goes the same way.
    """
    mail = world.mail
    if not isinstance(mail, LoggedMail):
        return None
    if world.machine.sum(int(mail.one_sided))[0]:
        raise UsageError(
            "The script accesses windows, sends partitioned messages, spawns processors or agrees "
            "on failures: what waits for these is not noted, and so they are written as no program "
            "of messages."
        )
    rows = gathered(world.machine.transport, list(mail.finish().items()))
    if not rows:
        return None
    noted: dict[int, list[Noted]] = {
        node: [_noted(*row) for row in operations] for part in rows for node, operations in part
    }
    senders, tags = _addresses(noted)
    builder, calls = Builder(world.size), list[str]()
    for node in range(world.size):
        for one in noted.get(node, []):
            number = _built(builder, node, one, senders, tags)
            for need in one.needs:
                builder.after(node, number, need >> 1, begun=bool(need & BEGUN))
            calls.append(_said(one.account, shares))
    return Traced(builder.done("messages"), calls)


def _noted(kind: str, amount: int, peer: int, envelope: list[Any], *rest: Any) -> Noted:
    return Noted(kind, amount, peer, tuple(envelope), *rest)


def _addresses(noted: dict[int, list[Noted]]) -> tuple[dict[Any, int], dict[Any, int]]:
    """Return who sends by context, rank and receiver, and the tag of each of their envelopes."""
    senders, tags, used = dict[Any, int](), dict[Any, int](), dict[Any, int]()
    for node in sorted(noted):
        for one in noted[node]:
            if one.kind != "send":
                continue
            context, rank, _ = one.envelope
            senders[context, rank, one.peer] = node
            key = node, one.peer, one.envelope
            if key not in tags:
                tags[key] = used[node, one.peer] = used.get((node, one.peer), -1) + 1
    return senders, tags


def _built(
    builder: Builder, node: int, one: Noted, senders: dict[Any, int], tags: dict[Any, int]
) -> int:
    """Put an operation into the program; a receive that got nothing is no work."""
    if one.kind == "send":
        tag = tags[node, one.peer, one.envelope]
        return builder.send(node, one.peer, one.amount, tag=tag)
    if one.kind == "recv":
        context, rank, _ = one.envelope
        sender = senders[context, rank, node]
        return builder.recv(node, sender, one.amount, tag=tags[sender, node, one.envelope])
    return builder.calc(node, one.amount)


def _said(account: int, shares: Shares) -> str:
    """Return the call with its file and line."""
    if account < 0:
        return ""
    kind, file, line = numbered(shares, account).site
    return f"{file}:{line} {kind}"

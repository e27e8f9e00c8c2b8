"""A script's run as a program of messages, with the source line of every operation."""

from __future__ import annotations

from typing import Any, NamedTuple

from mpinet.errors import UsageError
from mpinet.machine.timed.program import Builder, Program
from mpinet.mpi.world.accounts import Shares, numbered
from mpinet.mpi.world.logged_mail import BEGUN, LoggedMail, Noted
from mpinet.mpi.world.world import World
from mpinet.process.telling import gathered


class Traced(NamedTuple):
    """A program of messages, and the call, file and line of each operation."""

    program: Program
    calls: list[str]


def traced(world: World, shares: Shares) -> Traced | None:
    """Create a program from the recorded operations of all ranks, on rank 0 (collective).

    A tag of the program represents communicator, sender's rank and tag of the messages between two
    processors. Tags are numbered from 0 in the order of the sender's first use.

    Parameters
    ----------
    world : World
        The run.
    shares : sequence of sequence of Account
        The accounts of all ranks.

    Returns
    -------
    Traced or None
        None on ranks other than 0, and if no operations were recorded.

    Raises
    ------
    UsageError
        The script uses active messages, for example window accesses or partitioned messages.
    """
    mail = world.mail
    if not isinstance(mail, LoggedMail):
        return None
    if world.machine.sum(int(mail.one_sided))[0]:
        raise UsageError(
            "The script accesses windows, sends partitioned messages, spawns processors or agrees "
            "on failures. A program of messages cannot represent these operations."
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
    """Return the senders by context, rank and receiver, and the tag of each envelope."""
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
    """Add an operation to the program; a receive without a message becomes a calc of 0."""
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

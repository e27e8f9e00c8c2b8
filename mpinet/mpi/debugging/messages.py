"""Messages and receives of a run, for the commands of the debugger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from mpinet.mpi.checks.bodies import CheckedBody
from mpinet.mpi.real import ANY_SOURCE, ANY_TAG
from mpinet.mpi.world.contexts import COLLECTIVES, PAIRS, PARTS, SELF, WORLD, constant_of
from mpinet.mpi.world.deadlock import said
from mpinet.mpi.world.events import PostedReceive, awaited_by
from mpinet.mpi.world.message import BODY, Message
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.world import World
from mpinet.process.telling import agreed, gathered

SHOWN = 20
"""Largest number of messages in a list."""

UNKNOWN = -1
"""Account of a message whose sender's line is unknown."""


class OpenMessage(NamedTuple):
    """A message that is sent and not received."""

    receiver: int
    """The receiving processor."""
    step: int
    """Step before which the message was sent; -1 if unknown."""
    what: str
    """Sender, tag and size."""
    account: int
    """Number of the sender's account, or `UNKNOWN`."""
    state: str
    """Place of the message."""


def in_flight(world: World) -> str:
    """Return a line for each message that is sent and not received (collective)."""
    transit, transport = world.transit, world.machine.transport
    # A message's key moves on the machine, while its body waits at the receiver's rank.
    moving = {row[1]: row for row in transit.moving}
    keys = agreed(
        transport, [row for rows in gathered(transport, [*moving.values()]) for row in rows]
    )
    own = [*_leaving(world), *_unexpected(world)]
    for node, key, account, born, receiver in keys:
        if key in transit.bodies:
            state = f"at processor {node}"
            what = described(world, transit.bodies[key])
            own.append(OpenMessage(receiver, born, what, account, state))
    found = [OpenMessage(*row) for rows in gathered(transport, own) for row in rows]
    lines = _lines(world, sorted(found))
    many = "1 message is" if len(found) == 1 else f"{len(found) or 'No'} messages are"
    return str(agreed(transport, "\n".join([f"{many} sent and not received.", *lines]))) + "\n"


def queues(world: World, number: int) -> str:
    """Return the posted receives and unexpected messages of a processor (collective)."""
    here = [one for one in world.turns.processors if one is not None and one.id == number]
    own = [_queued(world, processor) for processor in here]
    found = [row for rows in gathered(world.machine.transport, own) for row in rows]
    heading, messages = found[0] if found else ([f"processor {number} has ended"], [])
    unexpected = _lines(world, [OpenMessage(*row) for row in messages])
    if found:
        unexpected = unexpected or ["  none"]
        heading = [*heading, "unexpected messages:"]
    return str(agreed(world.machine.transport, "\n".join([*heading, *unexpected]))) + "\n"


def places(world: World, wanted: Iterable[int]) -> dict[int, str]:
    """Return call and line of accounts of all ranks, by number (collective)."""
    transport, found = world.machine.transport, dict[int, str]()
    for rows in gathered(transport, [*world.accounts.places(agreed(transport, [*wanted])).items()]):
        found.update((number, said) for number, said in rows)
    return dict(agreed(transport, [*found.items()]))


def _queued(world: World, processor: Processor) -> tuple[list[str], list[OpenMessage]]:
    """Return the awaited events and posted receives as lines, and the unexpected messages."""
    account = processor.account
    call = f" in {account.kind} at {account.place}" if account is not None else ""
    waits = [f"  waits{call} for {said(event)}" for event in awaited_by(processor)]
    posted = [f"  {_receive(world, one)}" for one in world.mail.posted_by(processor)]
    lines = [f"processor {processor.id}:", *waits, "posted receives:", *(posted or ["  none"])]
    return lines, [*_arrived(world, processor)]


def _receive(world: World, receive: PostedReceive) -> str:
    """Describe a posted receive."""
    context, source, tag = receive.envelope
    if context % PARTS != PAIRS:
        return f"{_part(context)} from rank {source}"
    sender = "any rank" if source == ANY_SOURCE else f"rank {source}"
    tagged = "any tag" if tag == ANY_TAG else f"tag {tag}"
    return f"from {sender} with {tagged}{_among(world, context)}"


def _leaving(world: World) -> Iterator[OpenMessage]:
    """Yield the messages that enter the machine in the next step."""
    now = world.transit.now
    for _, receiver, account, message in zip(*world.mail.outbox.columns, strict=True):
        yield OpenMessage(receiver, now, described(world, message), account, "about to leave")


def _unexpected(world: World) -> Iterator[OpenMessage]:
    """Yield the messages that have arrived without a receive."""
    for processor in world.turns.processors:
        if processor is not None:
            yield from _arrived(world, processor)


def _arrived(world: World, processor: Processor) -> Iterator[OpenMessage]:
    """Yield the unexpected messages of a processor, in the order of arrival."""
    for message in processor.unexpected or ():
        account = getattr(message[BODY], "account", UNKNOWN)
        yield OpenMessage(
            processor.id, -1, described(world, message), account, "arrived, not received"
        )


def described(world: World, message: Message) -> str:
    """Return sender, tag and size of a message of this rank."""
    context, source, tag, body, _ = message
    sender = body.serial[0] if isinstance(body, CheckedBody) else source
    if context % PARTS != PAIRS:
        return f"{_part(context)} from rank {source}"
    return f"from {sender} with tag {tag}, {len(body)} bytes{_among(world, context)}"


def _part(context: int) -> str:
    """Return the name of messages that a call sends for itself."""
    return "message of a collective" if context % PARTS == COLLECTIVES else "internal message"


def _among(world: World, context: int) -> str:
    """Return a note on a message of a communicator other than the world."""
    name = constant_of(world.contexts.name(context)[0])
    return "" if name in (WORLD, SELF) else ", in a derived communicator"


def _lines(world: World, messages: Iterable[OpenMessage]) -> list[str]:
    """Return a line for each message, with its sender's line (collective)."""
    listed = list(messages)
    found = places(world, sorted({one.account for one in listed[:SHOWN]}))
    rest = [f"  .. and {len(listed) - SHOWN} more"] if len(listed) > SHOWN else []
    return [*(_line(one, found) for one in listed[:SHOWN]), *rest]


def _line(one: OpenMessage, places: dict[int, Any]) -> str:
    """Return the line for a message."""
    by = f", sent by {places[one.account]}" if one.account in places else ""
    after = f" after step {one.step}" if one.step >= 0 else ""
    return f"  to {one.receiver}: {one.what}{by}{after}; {one.state}"

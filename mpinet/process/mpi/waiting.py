"""Why no processor's script goes on any more: who waits for whom, in which call, on which line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from mpinet.errors import Deadlock
from mpinet.process.deadlock import SHOWN, all_waiting, cycle_or_chain
from mpinet.process.mpi.events import Event
from mpinet.process.mpi.processor import Processor
from mpinet.process.mpi.real import ANY_SOURCE
from mpinet.process.values import from_bytes, to_bytes

if TYPE_CHECKING:
    from mpinet.process.mpi.world import World

NOBODY = -1


def explain(world: World, polling: int) -> NoReturn:
    """Say why processors wait in vain (collective, when nothing is under way).

    Parameters
    ----------
    world : World
        The run.
    polling : int
        Processors that ask again and again whether something has come.

    Raises
    ------
    Deadlock
        The same text on every rank.
    """
    machine = world.machine
    here = [one for one in world.processors if one is not None]
    stuck = all_waiting(machine, [one.id for one in here])
    rows = {one.id: _next(world, one, stuck) for one in here}
    following: dict[int, int] = {}
    for text in machine.transport.gather(to_bytes(rows)):
        following.update(from_bytes(text))
    found = cycle_or_chain(following) if following else ([], False)
    text = machine.transport.share(to_bytes((*found, len(following))))
    chain, closed, total = from_bytes(text)
    shown = chain[:SHOWN]
    own = {one.id: _line(world, one, stuck) for one in here if one.id in set(shown)}
    lines: dict[int, str] = {}
    for text in machine.transport.gather(to_bytes(own)):
        lines.update(from_bytes(text))
    heading = _heading(world.network.now, total, polling, len(chain) if closed else 0)
    rest = [f"  .. and {len(chain) - SHOWN} more"] if len(chain) > SHOWN else []
    text = "\n".join([heading, *(lines[one] for one in shown if one in lines), *rest]).encode()
    raise Deadlock(machine.transport.share(text).decode())


def _heading(step: int, total: int, polling: int, cycle: int) -> str:
    """What has happened, in a sentence or two."""
    many = "1 processor waits" if total == 1 else f"{total} processors wait"
    if polling:
        asks = "1 of them asks" if polling == 1 else f"{polling} of them ask"
        return (
            f"Starvation after step {step}: {many}, and nothing is under way; {asks} again and "
            "again whether something has come:"
        )
    heading = f"Deadlock after step {step}: {many}, and nothing is under way."
    return f"{heading} {cycle} wait for one another in a cycle:" if cycle else heading


def _events(processor: Processor) -> tuple[Event, ...]:
    """What a processor waits for."""
    awaited = processor.awaited
    if awaited is None:
        return ()
    return awaited if isinstance(awaited, tuple) else (awaited,)


def _peers(world: World, processor: Processor) -> list[int]:
    """The processors whose doing a processor waits for; all others if anybody's will do."""
    found: list[int] = []
    for event in _events(processor):
        members = world.contexts.members(event.place, processor.id)
        if event.peer == ANY_SOURCE:
            found += [one for one in members if one != processor.id]
        elif 0 <= event.peer < len(members):
            found.append(members[event.peer])
    return found


def _next(world: World, processor: Processor, stuck: np.ndarray) -> int:
    """Whom a processor waits for: the first who waits, too, otherwise the first."""
    peers = _peers(world, processor)
    return next((one for one in peers if stuck[one]), peers[0] if peers else NOBODY)


def _line(world: World, processor: Processor, stuck: np.ndarray) -> str:
    """What one processor waits for, and where."""
    address = world.machine.topology.address(processor.id)
    name = f"{processor.id}" if address == str(processor.id) else f"{processor.id} {address}"
    account = processor.account
    assert account is not None
    events = _events(processor)
    awaited = " or ".join(event.said for event in events[:3]) or "something to come"
    if len(events) > 3:
        awaited += f" or {len(events) - 3} more"
    ended = [str(one) for one in _peers(world, processor)[:3] if not stuck[one]]
    over = f" (processor {', '.join(ended)} has ended)" if ended and len(events) == 1 else ""
    kept = 0 if processor.unexpected is None else len(processor.unexpected)
    has = f"; {kept} other message(s) have come" if kept else ""
    return (
        f"  processor {name}, {account.file}:{account.line}: waits in {account.kind} since step "
        f"{processor.since} for {awaited}{over}{has}"
    )

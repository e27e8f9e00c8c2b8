"""The reason why no processor's script goes on: who waits for whom, in which call and line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mpinet.machine import Machine
from mpinet.mpi.real import ANY_SOURCE
from mpinet.mpi.world.contexts import PAIRS, PARTS, Contexts
from mpinet.mpi.world.events import Answering, Event, PostedReceive, awaited_by
from mpinet.mpi.world.failure import named
from mpinet.mpi.world.mismatch import LastCalls, differing
from mpinet.mpi.world.onesided import OneSided, name_of
from mpinet.mpi.world.processor import Processor
from mpinet.process.deadlock import (
    SHOWN,
    all_waiting,
    cycle_or_chain,
    described,
    first_stuck,
    found_chain,
)
from mpinet.process.telling import agreed, gathered

NAMED = 3
"""Most things that one processor waits for which are named."""


def explanation(
    machine: Machine,
    contexts: Contexts,
    calls: LastCalls,
    here: Sequence[Processor],
    step: int,
    polling: int,
) -> str:
    """Return why processors wait in vain, the same text on every rank (collective).

    Parameters
    ----------
    machine : Machine
        The machine, on which no message is in flight.
    contexts : Contexts
        What numbers of contexts on this rank stand for.
    calls : LastCalls
        The collectives that this rank's processors have called.
    here : sequence of Processor
        This rank's processors that have not ended.
    step : int
        Steps that the machine has made.
    polling : int
        Processors, on all ranks, that ask again and again whether something has come.
    """
    # A bit per processor, combined over the ranks. A peer is usually on another rank, and gathering
    # all waits would be large.
    stuck = all_waiting(machine, [processor.id for processor in here])
    # Asked first: mismatched collectives look like a cycle of receives, which would blame lines
    # that are right.
    different = differing(machine, contexts, calls, here)
    if different:
        heading = _heading(step, int(np.count_nonzero(stuck)), polling, 0)
        text = f"{heading} They call collectives that do not match:"
        return "\n".join([text, *different])
    waiting = {each.id: each for each in here}
    waits = {each.id: (_next(contexts, each, stuck), each.awaited is None) for each in here}
    chain, closed, total = found_chain(machine.transport, waits, _chain)
    heading = _heading(step, total, polling, len(chain) if closed else 0)
    shown = [one for one in chain[:SHOWN] if one in waiting]
    own = {one: _line(machine, contexts, waiting[one], stuck) for one in shown}
    return described(machine.transport, heading, chain, own)


def name_holders(
    machine: Machine, contexts: Contexts, one_sided: OneSided, here: Sequence[Processor]
) -> None:
    """Let processors that wait for a window's lock know who holds it (collective).

    Parameters
    ----------
    machine : Machine
        The machine, on which no message is in flight.
    contexts : Contexts
        What numbers of contexts on this rank stand for.
    one_sided : OneSided
        The locks of this rank's memories.
    here : sequence of Processor
        This rank's processors that have not ended.
    """
    transport = machine.transport
    # Sorted, so that the text names the same holders on any number of ranks.
    rows = sorted(row for rows in gathered(transport, one_sided.held(contexts)) for row in rows)
    held = {(name, processor): holders for name, processor, holders in agreed(transport, rows)}
    for processor in here:
        for event in awaited_by(processor):
            if isinstance(event, Answering):
                members = contexts.members(event.place, processor.id)
                window = name_of(contexts, event.place), members[event.target]
                own = contexts.shared(event.place - event.place % PARTS).groups[0]
                mine = own.rank_of(processor.id)
                # A processor that holds a shared lock and wants more is held up by the others, not
                # by itself.
                others = [(rank, at) for rank, at in held.get(window, ()) if rank != mine]
                event.blame(others or held.get(window, ()))


def _chain(waits: dict[int, tuple[int, bool]]) -> tuple[list[int], bool]:
    """The processors that explain it, and whether they wait for one another in a cycle.

    Parameters
    ----------
    waits : dict
        Of each processor: whom it waits for, and whether it asks again and again instead.
    """
    chain, closed = cycle_or_chain({waiter: following for waiter, (following, _) in waits.items()})
    # A processor that polls ends any chain: it waits for no peer in particular. If none of the
    # chain polls, the polling ones are reported instead.
    asking = sorted(waiter for waiter, (_, asks) in waits.items() if asks)
    if closed or not asking or not set(asking).isdisjoint(chain):
        return chain, closed
    return asking, False


def _heading(step: int, total: int, polling: int, cycle: int) -> str:
    """Say in a sentence or two what has happened."""
    many = "1 processor waits" if total == 1 else f"{total} processors wait"
    if polling:
        asks = "1 of them asks" if polling == 1 else f"{polling} of them ask"
        return (
            f"Starvation after step {step}: {many}, and nothing is under way; {asks} again and "
            "again whether something has come:"
        )
    heading = f"Deadlock after step {step}: {many}, and nothing is under way."
    if cycle == 1:
        return f"{heading} 1 waits for itself:"
    return f"{heading} {cycle} wait for one another in a cycle:" if cycle else heading


def _peers(contexts: Contexts, processor: Processor) -> Iterator[int]:
    """The processors whose doing a processor waits for; all others if anybody's will do."""
    for event in awaited_by(processor):
        members = contexts.members(event.place, processor.id)
        if event.peer == ANY_SOURCE:
            # A wild receive is satisfied by any member. Only if all of them are stuck does it take
            # part in a deadlock.
            yield from (peer for peer in members if peer != processor.id)
        elif 0 <= event.peer < len(members):
            yield members[event.peer]


def _next(contexts: Contexts, processor: Processor, stuck: np.ndarray) -> int:
    """Return the processor that one waits for: the first who waits, too, otherwise the first."""
    return first_stuck(_peers(contexts, processor), stuck)


def _line(machine: Machine, contexts: Contexts, processor: Processor, stuck: np.ndarray) -> str:
    """Say what one processor waits for, and on which line."""
    name = named(machine.topology, processor.id)
    account = processor.account
    where = "outside of calls" if account is None else account.place
    kind = "" if account is None else f" in {account.kind}"
    if processor.awaited is None:
        return f"  processor {name}, {where}: asks{kind}{_come(processor)}"
    events = awaited_by(processor)
    awaited = " or ".join(_said(event) for event in events[:NAMED])
    if len(events) > NAMED:
        awaited += f" or {len(events) - NAMED} more"
    return (
        f"  processor {name}, {where}: waits{kind} since step {processor.since} for {awaited}"
        f"{_over(contexts, processor, stuck)}{_come(processor)}"
    )


def _said(event: Event) -> str:
    """Say what is waited for; tags of the emulator's own say nothing."""
    # Tags of collectives encode kind, root and operator. As numbers they would only confuse.
    if isinstance(event, PostedReceive) and event.place % PARTS != PAIRS:
        return f"a message from rank {event.peer}"
    return event.said


def _over(contexts: Contexts, processor: Processor, stuck: np.ndarray) -> str:
    """Say who will not do any more what a processor waits for."""
    peers = list(dict.fromkeys(_peers(contexts, processor)))
    if not peers or any(stuck[peer] for peer in peers):
        return ""
    if len(peers) == 1:
        return f" (processor {peers[0]} has ended)"
    return f" (all {len(peers)} that could have ended)"


def _come(processor: Processor) -> str:
    """Say what has come that a processor does not wait for."""
    if processor.unexpected is None:
        return ""
    messages = list(processor.unexpected)
    many = "1 other message has" if len(messages) == 1 else f"{len(messages)} other messages have"
    context, source, tag, _, _ = messages[0]
    # The same holds for a message that belongs to a collective: rank and tag mean nothing to its
    # reader.
    if context % PARTS != PAIRS:
        return f"; {many} come, the first in a collective"
    return f"; {many} come, the first from rank {source} with tag {tag}"

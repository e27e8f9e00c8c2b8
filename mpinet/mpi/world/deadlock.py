"""Deadlock reports: blocked processors, their peers, and the calls and lines of the waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mpinet.errors import Deadlock
from mpinet.machine import Machine
from mpinet.mpi.real import ANY_SOURCE
from mpinet.mpi.world.callgroups import CallGroup, call_groups, groups_text
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
"""Maximum number of awaited events named per processor."""


def explanation(
    machine: Machine,
    contexts: Contexts,
    calls: LastCalls,
    here: Sequence[Processor],
    step: int,
    polling: int,
) -> Deadlock:
    """Return the reason why processors are blocked, the same on every rank (collective).

    Parameters
    ----------
    machine : Machine
        The machine; no message is in flight.
    contexts : Contexts
        Meaning of the context numbers on this rank.
    calls : LastCalls
        The last collectives called by this rank's processors.
    here : sequence of Processor
        This rank's processors that have not ended.
    step : int
        Steps made by the machine.
    polling : int
        Number of polling processors on all ranks.
    """
    # One bit per processor, combined over the ranks. A peer is usually on another rank, and
    # gathering all waits would need much memory.
    stuck = all_waiting(machine, [processor.id for processor in here])
    # Tested first: mismatched collectives look like a cycle of receives. Reporting the cycle would
    # blame correct lines.
    different = differing(machine, contexts, calls, here)
    groups = call_groups(machine.transport, here)
    if different:
        heading = _heading(step, int(np.count_nonzero(stuck)), polling, 0)
        text = f"{heading} They call collectives that do not match:"
        return _deadlock("\n".join([text, *different]), groups, len(different))
    waiting = {each.id: each for each in here}
    waits = {each.id: (_next(contexts, each, stuck), each.awaited is None) for each in here}
    chain, closed, total = found_chain(machine.transport, waits, _chain)
    heading = _heading(step, total, polling, len(chain) if closed else 0)
    shown = [one for one in chain[:SHOWN] if one in waiting]
    own = {one: _line(machine, contexts, waiting[one], stuck) for one in shown}
    text = described(machine.transport, heading, chain, own)
    return _deadlock(text, groups, min(len(chain), SHOWN))


def _deadlock(text: str, groups: Sequence[CallGroup], lines: int) -> Deadlock:
    """Return the error of a report; `lines` is the number of processors with their own line."""
    # The groups add nothing if every processor has its line, and no function was called.
    processors = sum(group.processors for group in groups)
    if processors > lines or any(group.chain for group in groups):
        text = f"{text}\nWaiting processors by line:\n{groups_text(groups)}"
    error = Deadlock(text)
    error.waiting = [group.row for group in groups]
    return error


def name_holders(
    machine: Machine, contexts: Contexts, one_sided: OneSided, here: Sequence[Processor]
) -> None:
    """Tell processors that wait for a window's lock which ranks hold the lock (collective).

    Parameters
    ----------
    machine : Machine
        The machine; no message is in flight.
    contexts : Contexts
        Meaning of the context numbers on this rank.
    one_sided : OneSided
        The locks of windows on this rank.
    here : sequence of Processor
        This rank's processors that have not ended.
    """
    transport = machine.transport
    # Sorted: the text names the same holders on any number of ranks.
    rows = sorted(row for rows in gathered(transport, one_sided.held(contexts)) for row in rows)
    held = {(name, processor): holders for name, processor, holders in agreed(transport, rows)}
    for processor in here:
        for event in awaited_by(processor):
            if isinstance(event, Answering):
                members = contexts.members(event.place, processor.id)
                window = name_of(contexts, event.place), members[event.target]
                own = contexts.shared(event.place - event.place % PARTS).groups[0]
                mine = own.rank_of(processor.id)
                # A processor that holds a shared lock and requests more is blocked by the other
                # holders, not by itself.
                others = [(rank, at) for rank, at in held.get(window, ()) if rank != mine]
                event.blame(others or held.get(window, ()))


def _chain(waits: dict[int, tuple[int, bool]]) -> tuple[list[int], bool]:
    """Return a chain of blocked processors as explanation, and whether the chain is a cycle.

    Parameters
    ----------
    waits : dict
        By processor: the processor it waits for, and whether it polls instead.
    """
    chain, closed = cycle_or_chain({waiter: following for waiter, (following, _) in waits.items()})
    # A polling processor ends any chain, because it waits for no particular peer. If no processor
    # of the chain polls, the report shows the polling processors instead.
    asking = sorted(waiter for waiter, (_, asks) in waits.items() if asks)
    if closed or not asking or not set(asking).isdisjoint(chain):
        return chain, closed
    return asking, False


def _heading(step: int, total: int, polling: int, cycle: int) -> str:
    """Return the report's heading with step and number of blocked processors."""
    many = "1 processor waits" if total == 1 else f"{total} processors wait"
    if polling:
        polls = "1 of them polls" if polling == 1 else f"{polling} of them poll"
        return (
            f"Starvation after step {step}: {many} and no message is in flight; {polls} without "
            "success:"
        )
    heading = f"Deadlock after step {step}: {many} and no message is in flight."
    if cycle == 1:
        return f"{heading} 1 waits for itself:"
    return f"{heading} {cycle} wait for one another in a cycle:" if cycle else heading


def _peers(contexts: Contexts, processor: Processor) -> Iterator[int]:
    """Yield the processors that can end a processor's wait; all members for a wildcard receive."""
    for event in awaited_by(processor):
        members = contexts.members(event.place, processor.id)
        if event.peer == ANY_SOURCE:
            # Any member can satisfy a wildcard receive. The receive is part of a deadlock only if
            # all members are stuck.
            yield from (peer for peer in members if peer != processor.id)
        elif 0 <= event.peer < len(members):
            yield members[event.peer]


def _next(contexts: Contexts, processor: Processor, stuck: np.ndarray) -> int:
    """Return the first stuck peer of a blocked processor, otherwise its first peer."""
    return first_stuck(_peers(contexts, processor), stuck)


def _line(machine: Machine, contexts: Contexts, processor: Processor, stuck: np.ndarray) -> str:
    """Return the line of the report for one processor: its awaited events and source line."""
    name = named(machine.topology, processor.id)
    account = processor.account
    where = "outside of calls" if account is None else account.place
    kind = "" if account is None else f" in {account.kind}"
    if processor.awaited is None:
        return f"  processor {name}, {where}: polls{kind}{_come(processor)}"
    events = awaited_by(processor)
    awaited = " or ".join(said(event) for event in events[:NAMED])
    if len(events) > NAMED:
        awaited += f" or {len(events) - NAMED} more"
    return (
        f"  processor {name}, {where}: waits{kind} since step {processor.since} for {awaited}"
        f"{_over(contexts, processor, stuck)}{_come(processor)}"
    )


def said(event: Event) -> str:
    """Describe an awaited event; the emulator's internal tags are left out."""
    # Tags of collectives encode kind, root and operator. The numbers would only confuse readers.
    if isinstance(event, PostedReceive) and event.place % PARTS != PAIRS:
        return f"a message from rank {event.peer}"
    return event.said


def _over(contexts: Contexts, processor: Processor, stuck: np.ndarray) -> str:
    """Return a note if all awaited peers have ended."""
    peers = list(dict.fromkeys(_peers(contexts, processor)))
    if not peers or any(stuck[peer] for peer in peers):
        return ""
    if len(peers) == 1:
        return f" (processor {peers[0]} has ended)"
    return f" (all {len(peers)} awaited processors have ended)"


def _come(processor: Processor) -> str:
    """Return a note on arrived messages that the processor does not wait for."""
    if processor.unexpected is None:
        return ""
    messages = list(processor.unexpected)
    many = "1 other message has" if len(messages) == 1 else f"{len(messages)} other messages have"
    context, source, tag, _, _ = messages[0]
    # The same holds for messages of a collective: their ranks and tags mean nothing to readers.
    if context % PARTS != PAIRS:
        return f"; {many} arrived, the first in a collective"
    return f"; {many} arrived, the first from rank {source} with tag {tag}"

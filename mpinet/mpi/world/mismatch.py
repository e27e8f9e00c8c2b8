"""Collectives that members of a communicator call differently: who has called what, on which lines.

What all members have to say alike (kind, root, operator, bytes) is part of the tag of messages of
a collective, so that those of calls that differ never meet. Who has called what is asked only where
somebody waits in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.mpi.world.accounts import Account
from mpinet.mpi.world.contexts import COLLECTIVES, PARTS, Contexts
from mpinet.mpi.world.events import Receive, awaited_by
from mpinet.mpi.world.failure import named
from mpinet.mpi.world.processor import Processor
from mpinet.process.deadlock import SHOWN
from mpinet.process.telling import agreed, gathered

KEPT = 4096
"""Collectives of a rank that are known at least."""


class Call(NamedTuple):
    """A collective that a processor has called."""

    number: int
    """Number of the collective on its communicator."""
    processor: int
    """First processor of this rank that called it."""
    account: Account
    """Account of the call."""
    terms: tuple[str, ...]
    """Terms that all members have to state alike."""


class Calls:
    """The collectives that this rank's processors have called last, by context and tag."""

    def __init__(self) -> None:
        self._new: dict[tuple[int, int], Call] = {}
        self._old: dict[tuple[int, int], Call] = {}

    def __contains__(self, key: tuple[int, int]) -> bool:
        return key in self._new

    def note(self, key: tuple[int, int], call: Call) -> None:
        """Keep a call, and forget about those long ago."""
        if len(self._new) == KEPT:
            self._old, self._new = self._new, {}
        self._new[key] = call

    def keys(self, contexts: Contexts, messages: set[str]) -> list[str]:
        """Return the keys of those collectives whose messages are waited for or have come."""
        return sorted(
            {
                _key(contexts, context, call.number)
                for (context, tag), call in self._all().items()
                if _key(contexts, context, tag) in messages
            }
        )

    def told(self, contexts: Contexts, asked: set[str]) -> list[tuple[str, int, str, str]]:
        """Tell, of collectives that are asked for: which, who has called them, where, and what."""
        rows = []
        for (context, _), call in self._all().items():
            key = _key(contexts, context, call.number)
            if key in asked:
                said = " ".join((call.account.kind, *call.terms))
                rows.append((key, call.processor, call.account.place, said))
        return rows

    def _all(self) -> dict[tuple[int, int], Call]:
        return self._old | self._new


def differing(
    machine: Machine, contexts: Contexts, calls: Calls, processors: Iterable[Processor]
) -> list[str]:
    """Return lines about the first collective that members have called differently (collective).

    Parameters
    ----------
    machine : Machine
        The machine, on which nothing is under way.
    contexts : Contexts
        What tags on this rank stand for.
    calls : Calls
        The collectives that this rank's processors have called.
    processors : iterable of Processor
        Those of this rank that wait.

    Returns
    -------
    list of str
        A line for each way to call it; none where all collectives match.
    """
    transport = machine.transport
    messages = {_key(contexts, context, tag) for context, tag in _messages(processors)}
    keys = calls.keys(contexts, _united(transport, sorted(messages)))
    asked = _united(transport, keys)
    found: dict[str, dict[str, tuple[int, str]]] = {}
    for rows in gathered(transport, calls.told(contexts, asked)):
        for key, processor, place, said in rows:
            caller = found.setdefault(key, {}).setdefault(said, (processor, place))
            found[key][said] = min(caller, (processor, place))
    different = (callers for _, callers in sorted(found.items()) if len(callers) > 1)
    topology = machine.topology
    lines = [
        f"  processor {named(topology, processor)}, {place}: {said}"
        for said, (processor, place) in sorted(
            next(different, {}).items(), key=lambda call: call[1]
        )
    ]
    return list(agreed(transport, lines[:SHOWN]))


def _messages(processors: Iterable[Processor]) -> Iterator[tuple[int, int]]:
    """Contexts and tags of collectives' messages that are waited for, or have come in vain."""
    for processor in processors:
        for event in awaited_by(processor):
            if isinstance(event, Receive) and event.place % PARTS == COLLECTIVES:
                yield event.place, event.envelope[2]
        for context, _, tag, *_ in processor.unexpected or ():
            if context % PARTS == COLLECTIVES:
                yield context, tag


def _united(transport: Local, own: list[str]) -> set[str]:
    """Return what any rank says, on every rank (collective)."""
    everything = {each for said in gathered(transport, own) for each in said}
    return set(agreed(transport, sorted(everything)))


def _key(contexts: Contexts, context: int, number: int) -> str:
    """A collective's name, the same on all ranks; sorted by its number."""
    return f"{number:020} {contexts.name(context)!r}"

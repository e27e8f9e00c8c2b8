"""Collectives that members of a communicator call differently: who has called what, on which lines.

What all members have to say alike (kind, root, operator, bytes) is part of the tag of messages of
a collective, so that those of calls that differ never meet. The calls are compared where processors
wait in vain, and at the end of the run: calls may differ although no processor waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.mpi.world.accounts import Account
from mpinet.mpi.world.contexts import COLLECTIVES, PARTS, Contexts
from mpinet.mpi.world.events import PostedReceive, awaited_by
from mpinet.mpi.world.failure import named
from mpinet.mpi.world.processor import Processor
from mpinet.process.deadlock import SHOWN
from mpinet.process.telling import agreed, gathered

KEPT = 4096
"""Collectives of a rank that are known at least."""


Told = tuple[str, int, str, str]
"""A collective, a processor that has called it, where, and what."""

Callers = dict[str, tuple[int, str]]
"""The ways to call a collective, each with the first processor that does, and where."""


class CalledCollective(NamedTuple):
    """A collective that a processor has called."""

    number: int
    """Number of the collective on its communicator."""
    processor: int
    """First processor of this rank that called it."""
    account: Account
    """Account of the call."""
    terms: tuple[str, ...]
    """Terms that all members have to state alike."""


NO_CALLS = 0, 0
"""A member's calls before the first: their number, and a number that stands for all of them."""


class LastCalls:
    """The collectives that this rank's processors have called last, by context and tag."""

    def __init__(self) -> None:
        self.among: dict[int, int] = {}
        """Number of members of each context."""
        self._ends: dict[int, Counter[tuple[int, int]]] = {}
        self._new: dict[tuple[int, int], CalledCollective] = {}
        self._old: dict[tuple[int, int], CalledCollective] = {}

    def __contains__(self, key: tuple[int, int]) -> bool:
        return key in self._new

    def end_all(self, processor: Processor) -> None:
        """Note what a processor that comes to its end has called."""
        for key in [*processor.storage()]:
            if _is_collectives(key):
                self.end(processor, key)

    def end(self, processor: Processor, context: int) -> None:
        """Note what a processor has called in a context that it leaves."""
        called = processor.storage().pop(context, None)
        # A communicator of one has no other member to differ from.
        if called is None or self.among[context] == 1:
            return
        ends = self._ends.setdefault(context, Counter())
        ends[called] += 1
        # All members agree, so the context is forgotten. A script that makes a million
        # communicators must not fill the memory.
        if ends[called] == self.among[context]:  # all members have called the same
            del self._ends[context]

    def ends(
        self, contexts: Contexts, living: Iterable[Processor]
    ) -> list[tuple[str, int, list[tuple[int, int, int]]]]:
        """Return what members of contexts have called until their ends, or until now.

        Returns
        -------
        list
            Of each context a name, the number of its members, and for each way the number of calls,
            the number that stands for them, and the number of this rank's members.
        """
        # A copy, since a team of tests asks after each test and goes on.
        found = {context: Counter(ends) for context, ends in self._ends.items()}
        for processor in living:
            for context, called in processor.storage().items():
                if _is_collectives(context) and self.among.get(context, 0) > 1:
                    found.setdefault(context, Counter())[called] += 1
        return [
            (
                repr(contexts.name(context)),
                self.among[context],
                [(*called, many) for called, many in ends.items()],
            )
            for context, ends in found.items()
        ]

    def called(self, contexts: Contexts, name: str) -> list[Told]:
        """Tell what is known of all collectives of a context."""
        own = {context for context in self.among if repr(contexts.name(context)) == name}
        calls = ((context, call) for (context, _), call in self._all().items())
        return [_told(contexts, context, call) for context, call in calls if context in own]

    def note(self, key: tuple[int, int], call: CalledCollective, among: int) -> None:
        """Keep a call in a context of so many members, and forget about those long ago."""
        self.among[key[0]] = among
        # Two halves of a cache: dropping the older one costs nothing per call, and the last calls
        # are always there.
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

    def told(self, contexts: Contexts, asked: set[str]) -> list[Told]:
        """Tell, of collectives that are asked for: which, who has called them, where, and what."""
        rows = (_told(contexts, context, call) for (context, _), call in self._all().items())
        return [row for row in rows if row[0] in asked]

    def _all(self) -> dict[tuple[int, int], CalledCollective]:
        return self._old | self._new


def differing(
    machine: Machine, contexts: Contexts, calls: LastCalls, processors: Iterable[Processor]
) -> list[str]:
    """Return lines about the first collective that members have called differently (collective).

    Parameters
    ----------
    machine : Machine
        The machine, on which no message is in flight.
    contexts : Contexts
        What tags on this rank stand for.
    calls : LastCalls
        The collectives that this rank's processors have called.
    processors : iterable of Processor
        Those of this rank that wait.

    Returns
    -------
    list of str
        A line for each way to call it; none where all collectives match.
    """
    transport = machine.transport
    # The collectives that hold up processors are those whose messages are awaited or lie
    # unreceived. All others have ended.
    messages = {_key(contexts, context, tag) for context, tag in _messages(processors)}
    keys = calls.keys(contexts, _united(transport, sorted(messages)))
    asked = _united(transport, keys)
    found = _by_collective(gathered(transport, calls.told(contexts, asked)))
    return list(agreed(transport, _lines(machine, _first_different(found))))


def unequal(
    machine: Machine, contexts: Contexts, calls: LastCalls, living: Iterable[Processor] = ()
) -> list[str]:
    """Return lines about a collective that members called differently, or not all (collective).

    Parameters
    ----------
    machine : Machine
        The machine, on which no message is in flight.
    contexts : Contexts
        What tags on this rank stand for.
    calls : LastCalls
        The collectives that this rank's processors have called.
    living : iterable of Processor
        Those of this rank's that have not ended.

    Returns
    -------
    list of str
        A line for each way to call it; none where all members have called the same.
    """
    transport = machine.transport
    # Members are compared by a number that stands for all their calls in order. A list of the calls
    # would grow with the run.
    ends: dict[str, Counter[int]] = {}
    ways: dict[str, set[int]] = {}
    among = {}
    for rows in gathered(transport, calls.ends(contexts, living)):
        for name, members, alike in rows:
            among[name] = members
            for number, said, many in alike:
                ends.setdefault(name, Counter())[number] += many
                ways.setdefault(name, set()).add(said)
    # Members that never called any collective on the communicator have noted nothing, and are
    # missed only by the count.
    short = {name: among[name] - sum(ends[name].values()) for name in among}
    name = agreed(transport, min((n for n in among if len(ways[n]) > 1 or short[n]), default=""))
    if not name:
        return []
    found = _by_collective(gathered(transport, calls.called(contexts, name)))
    lines = _lines(machine, _first_different(found))
    if found and not lines:
        # They count as members with zero calls, so that the least number below is theirs.
        ends[name][0] += short[name]
        least = min(number for number, many in ends[name].items() if many)
        missing = f"  {ends[name][least]} of {among[name]} members have not called it"
        after = next((key for key in sorted(found) if _number_in(key) > least), sorted(found)[-1])
        lines = [*_lines(machine, found[after]), missing]
    return list(agreed(transport, lines or ["  the calls are too long ago for their lines"]))


def _told(contexts: Contexts, context: int, call: CalledCollective) -> Told:
    """Tell of a call which collective it is, who has called it, where, and what."""
    said = " ".join((call.account.kind, *call.terms))
    return _key(contexts, context, call.number), call.processor, call.account.place, said


def _by_collective(told: Iterable[Iterable[Told]]) -> dict[str, Callers]:
    """Sort what all ranks tell: of each collective, each way to call it, and the first caller."""
    found: dict[str, Callers] = {}
    for rows in told:
        for key, processor, place, said in rows:
            callers = found.setdefault(key, {})
            callers[said] = min(callers.get(said, (processor, place)), (processor, place))
    return found


def _first_different(found: dict[str, Callers]) -> Callers:
    """Return the first collective that has been called in several ways; none without one."""
    return next((callers for _, callers in sorted(found.items()) if len(callers) > 1), {})


def _lines(machine: Machine, callers: Callers) -> list[str]:
    """Return a line for each way to call a collective."""
    ways = sorted(callers.items(), key=lambda call: call[1])
    return [
        f"  processor {named(machine.topology, processor)}, {place}: {said}"
        for said, (processor, place) in ways[:SHOWN]
    ]


def _messages(processors: Iterable[Processor]) -> Iterator[tuple[int, int]]:
    """Contexts and tags of collectives' messages that are waited for, or have come in vain."""
    for processor in processors:
        for event in awaited_by(processor):
            if isinstance(event, PostedReceive) and event.place % PARTS == COLLECTIVES:
                yield event.place, event.envelope[2]
        for context, _, tag, *_ in processor.unexpected or ():
            if context % PARTS == COLLECTIVES:
                yield context, tag


def _united(transport: Local, own: list[str]) -> set[str]:
    """Return what any rank says, on every rank (collective)."""
    everything = {each for said in gathered(transport, own) for each in said}
    return set(agreed(transport, sorted(everything)))


def _is_collectives(key: object) -> bool:
    """Return whether a key of a processor's storage is a context of collectives."""
    return isinstance(key, int) and key % PARTS == COLLECTIVES


def _number_in(key: str) -> int:
    """Return the number in a collective's name."""
    return int(key.split()[0])


def _key(contexts: Contexts, context: int, number: int) -> str:
    """A collective's name, the same on all ranks; sorted by its number."""
    # Padded, so that the order of texts is the order of numbers: the first collective that differs
    # is the cause of all later ones.
    return f"{number:020} {contexts.name(context)!r}"

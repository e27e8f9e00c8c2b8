"""Detects collectives called differently by members of a communicator, with callers and lines.

All members must agree on kind, root, operator and bytes. These terms are part of the tag of a
collective's messages, therefore messages of different calls never match. Calls are compared when
processors are blocked, and at the end of the run because calls may differ although no processor is
blocked.
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
"""Minimum number of recent collectives kept per rank."""


Told = tuple[str, int, str, str]
"""A collective's key, a calling processor, the source line, and the call with its terms."""

Callers = dict[str, tuple[int, str]]
"""By way of calling a collective: the lowest calling processor and its source line."""


class CalledCollective(NamedTuple):
    """A collective called by a processor."""

    number: int
    """Number of the collective on its communicator."""
    processor: int
    """This rank's first processor with this call."""
    account: Account
    """Account of the call."""
    terms: tuple[str, ...]
    """Terms on which all members must agree."""


NO_CALLS = 0, 0
"""A member's state before its first call: number of calls, and hash of all its calls."""


class LastCalls:
    """The most recent collectives called by this rank's processors, by context and tag."""

    def __init__(self) -> None:
        self.among: dict[int, int] = {}
        """Number of members, by context."""
        self._ends: dict[int, Counter[tuple[int, int]]] = {}
        self._new: dict[tuple[int, int], CalledCollective] = {}
        self._old: dict[tuple[int, int], CalledCollective] = {}

    def __contains__(self, key: tuple[int, int]) -> bool:
        return key in self._new

    def end_all(self, processor: Processor) -> None:
        """Record the collectives of a processor at its end."""
        for key in [*processor.storage()]:
            if _is_collectives(key):
                self.end(processor, key)

    def end(self, processor: Processor, context: int) -> None:
        """Record the collectives of a processor when it leaves a context."""
        called = processor.storage().pop(context, None)
        # A communicator with a single member cannot have differing calls.
        if called is None or self.among[context] == 1:
            return
        ends = self._ends.setdefault(context, Counter())
        ends[called] += 1
        # All members agree, and the context is forgotten. A script that makes a million
        # communicators must not fill the memory.
        if ends[called] == self.among[context]:  # all members have made the same calls
            del self._ends[context]

    def ends(
        self, contexts: Contexts, living: Iterable[Processor]
    ) -> list[tuple[str, int, list[tuple[int, int, int]]]]:
        """Return the calls of members of contexts, until their ends or until now.

        Returns
        -------
        list
            For each context: name, number of members, and for each sequence of calls its length,
            its hash, and the number of this rank's members with this sequence.
        """
        # A copy, because a team of tests asks after each test and continues.
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
        """Return all recorded collectives of a context."""
        own = {context for context in self.among if repr(contexts.name(context)) == name}
        calls = ((context, call) for (context, _), call in self._all().items())
        return [_told(contexts, context, call) for context, call in calls if context in own]

    def note(self, key: tuple[int, int], call: CalledCollective, among: int) -> None:
        """Record a call in a context with `among` members, and drop old calls."""
        self.among[key[0]] = among
        # Two halves of a cache: dropping the older half costs nothing per call, and recent calls
        # are always present.
        if len(self._new) == KEPT:
            self._old, self._new = self._new, {}
        self._new[key] = call

    def keys(self, contexts: Contexts, messages: set[str]) -> list[str]:
        """Return the keys of collectives whose messages are awaited or unreceived."""
        return sorted(
            {
                _key(contexts, context, call.number)
                for (context, tag), call in self._all().items()
                if _key(contexts, context, tag) in messages
            }
        )

    def told(self, contexts: Contexts, asked: set[str]) -> list[Told]:
        """Return the recorded calls of the requested collectives."""
        rows = (_told(contexts, context, call) for (context, _), call in self._all().items())
        return [row for row in rows if row[0] in asked]

    def _all(self) -> dict[tuple[int, int], CalledCollective]:
        return self._old | self._new


def differing(
    machine: Machine, contexts: Contexts, calls: LastCalls, processors: Iterable[Processor]
) -> list[str]:
    """Return lines about the first collective called differently by its members (collective).

    Parameters
    ----------
    machine : Machine
        The machine; no message is in flight.
    contexts : Contexts
        Meaning of the context numbers on this rank.
    calls : LastCalls
        The collectives called by this rank's processors.
    processors : iterable of Processor
        The blocked processors of this rank.

    Returns
    -------
    list of str
        A line for each way of calling the collective; empty if all collectives match.
    """
    transport = machine.transport
    # The messages of blocked collectives are awaited or unreceived. All other collectives have
    # ended.
    messages = {_key(contexts, context, tag) for context, tag in _messages(processors)}
    keys = calls.keys(contexts, _united(transport, sorted(messages)))
    asked = _united(transport, keys)
    found = _by_collective(gathered(transport, calls.told(contexts, asked)))
    return list(agreed(transport, _lines(machine, _first_different(found))))


def unequal(
    machine: Machine, contexts: Contexts, calls: LastCalls, living: Iterable[Processor] = ()
) -> list[str]:
    """Return lines about a collective called differently, or not called by all (collective).

    Parameters
    ----------
    machine : Machine
        The machine; no message is in flight.
    contexts : Contexts
        Meaning of the context numbers on this rank.
    calls : LastCalls
        The collectives called by this rank's processors.
    living : iterable of Processor
        This rank's processors that have not ended.

    Returns
    -------
    list of str
        A line for each way of calling the collective; empty if all members have made the same
        calls.
    """
    transport = machine.transport
    # Members are compared by a hash of all their calls in order. A list of the calls would grow
    # with the run.
    ends: dict[str, Counter[int]] = {}
    ways: dict[str, set[int]] = {}
    among = {}
    for rows in gathered(transport, calls.ends(contexts, living)):
        for name, members, alike in rows:
            among[name] = members
            for number, said, many in alike:
                ends.setdefault(name, Counter())[number] += many
                ways.setdefault(name, set()).add(said)
    # Members without any collective on the communicator have recorded nothing. Only the count shows
    # them.
    short = {name: among[name] - sum(ends[name].values()) for name in among}
    name = agreed(transport, min((n for n in among if len(ways[n]) > 1 or short[n]), default=""))
    if not name:
        return []
    found = _by_collective(gathered(transport, calls.called(contexts, name)))
    lines = _lines(machine, _first_different(found))
    if found and not lines:
        # These members count as members with zero calls, and the least number below is theirs.
        ends[name][0] += short[name]
        least = min(number for number, many in ends[name].items() if many)
        missing = f"  {ends[name][least]} of {among[name]} members have not called it"
        after = next((key for key in sorted(found) if _number_in(key) > least), sorted(found)[-1])
        lines = [*_lines(machine, found[after]), missing]
    return list(agreed(transport, lines or ["  the lines of these calls are no longer known"]))


def _told(contexts: Contexts, context: int, call: CalledCollective) -> Told:
    """Return a call as a row: collective's key, processor, line, and call with terms."""
    said = " ".join((call.account.kind, *call.terms))
    return _key(contexts, context, call.number), call.processor, call.account.place, said


def _by_collective(told: Iterable[Iterable[Told]]) -> dict[str, Callers]:
    """Group the calls of all ranks by collective and way of calling, with the lowest caller."""
    found: dict[str, Callers] = {}
    for rows in told:
        for key, processor, place, said in rows:
            callers = found.setdefault(key, {})
            callers[said] = min(callers.get(said, (processor, place)), (processor, place))
    return found


def _first_different(found: dict[str, Callers]) -> Callers:
    """Return the first collective called in several ways; empty if there is none."""
    return next((callers for _, callers in sorted(found.items()) if len(callers) > 1), {})


def _lines(machine: Machine, callers: Callers) -> list[str]:
    """Return a line for each way of calling a collective."""
    ways = sorted(callers.items(), key=lambda call: call[1])
    return [
        f"  processor {named(machine.topology, processor)}, {place}: {said}"
        for said, (processor, place) in ways[:SHOWN]
    ]


def _messages(processors: Iterable[Processor]) -> Iterator[tuple[int, int]]:
    """Yield context and tag of awaited and of unreceived messages of collectives."""
    for processor in processors:
        for event in awaited_by(processor):
            if isinstance(event, PostedReceive) and event.place % PARTS == COLLECTIVES:
                yield event.place, event.envelope[2]
        for context, _, tag, *_ in processor.unexpected or ():
            if context % PARTS == COLLECTIVES:
                yield context, tag


def _united(transport: Local, own: list[str]) -> set[str]:
    """Return the union of all ranks' texts, on every rank (collective)."""
    everything = {each for said in gathered(transport, own) for each in said}
    return set(agreed(transport, sorted(everything)))


def _is_collectives(key: object) -> bool:
    """Return whether a key of a processor's storage is a context of collectives."""
    return isinstance(key, int) and key % PARTS == COLLECTIVES


def _number_in(key: str) -> int:
    """Return the number in a collective's key."""
    return int(key.split()[0])


def _key(contexts: Contexts, context: int, number: int) -> str:
    """Return a collective's key, the same on all ranks; keys sort by number."""
    # Padded, so the order of texts is the order of numbers. The first differing collective is the
    # cause of all later ones.
    return f"{number:020} {contexts.name(context)!r}"

"""All orders of a script's messages, one run after another, until its outcome differs.

Runs branch where something could have been got otherwise, the last such place first. Two
processors that get something on their own come to the same whoever is first: of such orders one is
run (sleep sets, as in Godefroid, Partial-Order Methods, 1996, chapter 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from mpinet.errors import Deadlock, ProgramError
from mpinet.machine.transport import Local
from mpinet.mpi.outcome import ScriptOutcome
from mpinet.mpi.world.orders import Choice, Place, PrefixReplay, Redundant, order_text
from mpinet.process.telling import agreed, gathered

Told = dict[int, str]
"""Output of processors on the standard output, on rank 0."""

Run = Callable[[PrefixReplay, Told, bool], ScriptOutcome]
"""Makes a run in an order, which fills what is told; whether it is the first."""


@dataclass
class Branch:
    """A moment in which something was chosen."""

    options: list[Choice]
    """All options of this moment, by processor."""
    asleep: set[Choice]
    """Options that were tried, here or before, and give the same result."""
    taken: Choice
    """Option that was chosen."""

    @property
    def place(self) -> Place:
        """The choice as an order has it."""
        own = [one for one in self.options if one.processor == self.taken.processor]
        return self.taken.processor, own.index(self.taken)

    @property
    def later(self) -> set[Choice]:
        """Options that need not be tried behind it."""
        return {one for one in self.asleep if one.processor != self.taken.processor}


class OrderFindings(NamedTuple):
    """Findings of all orders."""

    tried: int
    """Runs that came to their end."""
    all: bool
    """True if there is no other order."""
    outcome: str
    """``"same"`` in all of them, or ``"deadlock"``, ``"failure"``, ``"output"``,
    ``"unreceived"``."""
    order: str
    """The order that shows it, as `order_of` reads it; '' if there is none."""
    difference: str
    """A sentence on it; '' if there is none."""


class RunEnd(NamedTuple):
    """End of a run: its kind ('' or as `OrderFindings.outcome`), why, output, messages left."""

    kind: str
    why: str
    told: Told
    left: list[tuple[int, int]]


def try_all(transport: Local, run: Run, most: int) -> tuple[ScriptOutcome, OrderFindings]:
    """Run a script in all orders (collective).

    Parameters
    ----------
    transport : Local
        The ranks.
    run : callable
        Makes a run; the first one raises its own error.
    most : int
        Most runs.

    Returns
    -------
    outcome : ScriptOutcome
        Of the first order.
    found : OrderFindings
        What the others have shown.
    """
    branches: list[Branch] = []
    first: tuple[ScriptOutcome, RunEnd] | None = None
    tried = 0
    for number in range(most):
        # The sleep set of the last choice point goes into the run. So it can stop as soon as only
        # covered options are left.
        asleep = branches[-1].later if branches else set[Choice]()
        orders, told = PrefixReplay([branch.place for branch in branches], asleep), Told()
        end, outcome = _made(run, orders, told, number == 0)
        _branch(branches, transport, orders)
        # A redundant run has no end of its own. It is neither counted nor compared.
        if end is not None:
            tried += 1
            if first is None:
                assert outcome is not None
                first = outcome, end
            kind, difference = agreed(transport, _differs(first[1], end))
            if kind:
                order = order_text(_told_apart(branches))
                return first[0], OrderFindings(tried, False, kind, order, difference)
        if not _next(branches):
            assert first is not None
            return first[0], OrderFindings(tried, True, "same", "", "")
    assert first is not None
    return first[0], OrderFindings(tried, False, "same", "", "")


def _made(
    run: Run, orders: PrefixReplay, told: Told, is_first: bool
) -> tuple[RunEnd | None, ScriptOutcome | None]:
    """Make a run; no end if it can only end as another one."""
    try:
        outcome = run(orders, told, is_first)
    except Redundant:
        return None, None
    except (Deadlock, ProgramError) as error:
        if is_first:
            raise
        kind = "deadlock" if isinstance(error, Deadlock) else "failure"
        return RunEnd(kind, str(error), told, []), None
    return RunEnd("", "", told, outcome.unreceived_at), outcome


def _branch(branches: list[Branch], transport: Local, orders: PrefixReplay) -> None:
    """Note the moments of a run behind those that are known (collective)."""
    known = len(branches)
    new = gathered(transport, orders.moments[known:])
    for parts in agreed(transport, list(zip(*new, strict=True))):
        options = [Choice(*option) for _, here in parts for option in here]
        options.sort(key=lambda option: option.processor)  # each one's stay in their order
        taken = max(Choice(*one) for one, _ in parts)
        branches.append(Branch(options, branches[-1].later if branches else set(), taken))


def _next(branches: list[Branch]) -> bool:
    """Go back to the last moment where something else can be, and choose that."""
    while branches:
        last = branches[-1]
        # Depth first: everything behind this option has been explored, so it sleeps at this point
        # from now on.
        last.asleep.add(last.taken)
        awake = (option for option in last.options if option not in last.asleep)
        taken = next(awake, None)
        if taken is not None:
            last.taken = taken
            return True
        branches.pop()
    return False


def _told_apart(branches: Iterable[Branch]) -> list[Place]:
    """The places of an order up to the last that is not the first which there is."""
    places = [(branch.place, branch.taken == branch.options[0]) for branch in branches]
    # Choices that any run would make need not be told. The shortest prefix that shows the
    # difference is left.
    while len(places) > 1 and places[-1][1]:
        places.pop()
    return [place for place, _ in places]


def _differs(first: RunEnd, end: RunEnd) -> tuple[str, str]:
    """Tell in what a run's end differs from that of the first, '' if in nothing."""
    if end.kind:
        return end.kind, end.why
    for processor in sorted(first.told.keys() | end.told.keys()):
        lines = (run.told.get(processor, "").splitlines() for run in (first, end))
        for one, other in zip_longest(*lines):
            if one != other:
                return "output", (
                    f"Processor {processor} prints {_quoted(other)} where it prints "
                    f"{_quoted(one)} in the first order."
                )
    if first.left != end.left:
        left, before = (dict(run.left) for run in (end, first))
        at = min(dict(set(first.left) ^ set(end.left)))
        return "unreceived", (
            f"Processor {at} ends without {left.get(at, 0)} of its messages, in the first order "
            f"without {before.get(at, 0)}."
        )
    return "", ""


def _quoted(line: str | None) -> str:
    """A line as a sentence has it."""
    if line is None:
        return "nothing more"
    return repr(line if len(line) <= SHOWN else line[:SHOWN] + " ..")


SHOWN = 100
"""Most characters of a line that a sentence has."""

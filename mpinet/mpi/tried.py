"""Exploration of all orders of a script's messages, run by run, until an outcome differs.

Runs branch at choice points, the last one first. Independent choices of two processors have the
same effect in either order. Only one of such equivalent orders is run (sleep sets, as in Godefroid,
Partial-Order Methods, 1996, chapter 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from mpinet.errors import Deadlock, ProgramError
from mpinet.machine.transport import Local
from mpinet.mpi.checks.findings import CheckedEnd
from mpinet.mpi.outcome import ScriptOutcome
from mpinet.mpi.world.orders import Choice, Place, PrefixReplay, Redundant, order_text
from mpinet.process.telling import agreed, gathered

Told = dict[int, str]
"""On rank 0: standard output by processor."""

Run = Callable[[PrefixReplay, Told, bool], ScriptOutcome]
"""Makes a run in a given order and fills the dictionary of outputs; the flag marks the first
run.
"""


@dataclass
class Branch:
    """A moment at which an option was chosen."""

    options: list[Choice]
    """All options of this moment, by processor."""
    asleep: set[Choice]
    """Options already explored here or earlier, which lead to the same results."""
    taken: Choice
    """Chosen option."""

    @property
    def place(self) -> Place:
        """The choice in the form used by an order."""
        own = [one for one in self.options if one.processor == self.taken.processor]
        return self.taken.processor, own.index(self.taken)

    @property
    def later(self) -> set[Choice]:
        """Options that need no exploration after this choice."""
        return {one for one in self.asleep if one.processor != self.taken.processor}


class OrderFindings(NamedTuple):
    """Findings of the exploration of message orders."""

    tried: int
    """Number of complete runs."""
    all: bool
    """True if all orders were explored."""
    outcome: str
    """``"same"`` if all outcomes are equal, otherwise ``"deadlock"``, ``"failure"``, ``"output"``
    or ``"unreceived"``.
    """
    order: str
    """Order that shows the difference, in the form of `order_of`; empty without a difference."""
    difference: str
    """Description of the difference; empty without one."""


class RunEnd(NamedTuple):
    """End of a run: kind (empty or as in `OrderFindings.outcome`), reason, output, leftovers."""

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
        Makes a run; the first run raises its own error.
    most : int
        Maximum number of runs.

    Returns
    -------
    outcome : ScriptOutcome
        Outcome of the first order.
    found : OrderFindings
        Findings of all further orders.
    """
    branches: list[Branch] = []
    first: tuple[ScriptOutcome, RunEnd] | None = None
    tried = 0
    for number in range(most):
        # The run gets the sleep set of the last choice point. It can stop as soon as only covered
        # options are left.
        asleep = branches[-1].later if branches else set[Choice]()
        orders, told = PrefixReplay([branch.place for branch in branches], asleep), Told()
        try:
            end, outcome = _made(run, orders, told, number == 0)
        except (Deadlock, ProgramError, CheckedEnd) as ended:
            _branch(branches, transport, orders)
            order = order_text(_told_apart(branches))
            ended.args = (f"{ended}\n{_first_text(order)}", *ended.args[1:])
            raise
        _branch(branches, transport, orders)
        # A redundant run has no outcome of its own and is neither counted nor compared.
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


def _first_text(order: str) -> str:
    """Return a sentence on a failure in the first order."""
    again = f" Repeat it with: --arrivals {order}" if order else " It has no other order so far."
    return f"This is the first of all orders: 1 run.{again}"


def _made(
    run: Run, orders: PrefixReplay, told: Told, is_first: bool
) -> tuple[RunEnd | None, ScriptOutcome | None]:
    """Make a run; return the run's end and outcome.

    Both are None for a run that can only repeat an earlier outcome. The outcome alone is None
    after a deadlock or an error; the first run raises such errors.
    """
    try:
        outcome = run(orders, told, is_first)
    except Redundant:
        return None, None
    except (Deadlock, ProgramError, CheckedEnd) as ended:
        if is_first:
            raise
        error = ended.error if isinstance(ended, CheckedEnd) else ended
        kind = "deadlock" if isinstance(error, Deadlock) else "failure"
        return RunEnd(kind, str(error), told, []), None
    return RunEnd("", "", told, outcome.unreceived_at), outcome


def _branch(branches: list[Branch], transport: Local, orders: PrefixReplay) -> None:
    """Append the new moments of a run to the branches (collective)."""
    known = len(branches)
    new = gathered(transport, orders.moments[known:])
    for parts in agreed(transport, list(zip(*new, strict=True))):
        options = [Choice(*option) for _, here in parts for option in here]
        options.sort(key=lambda option: option.processor)  # stable
        taken = max(Choice(*one) for one, _ in parts)
        branches.append(Branch(options, branches[-1].later if branches else set(), taken))


def _next(branches: list[Branch]) -> bool:
    """Backtrack to the last unexplored option and choose it; return False if none is left."""
    while branches:
        last = branches[-1]
        # Depth first: everything after this option has been explored, and the option sleeps at this
        # point from now on.
        last.asleep.add(last.taken)
        awake = (option for option in last.options if option not in last.asleep)
        taken = next(awake, None)
        if taken is not None:
            last.taken = taken
            return True
        branches.pop()
    return False


def _told_apart(branches: Iterable[Branch]) -> list[Place]:
    """Return an order's shortest prefix: trailing first options are left out."""
    places = [(branch.place, branch.taken == branch.options[0]) for branch in branches]
    # Trailing choices that any run would make are dropped. The result is the shortest prefix that
    # shows the difference.
    while len(places) > 1 and places[-1][1]:
        places.pop()
    return [place for place, _ in places]


def _differs(first: RunEnd, end: RunEnd) -> tuple[str, str]:
    """Return kind and description of the difference between two ends of runs; empty if equal."""
    if end.kind:
        return end.kind, end.why
    for processor in sorted(first.told.keys() | end.told.keys()):
        lines = (run.told.get(processor, "").splitlines() for run in (first, end))
        for one, other in zip_longest(*lines):
            if one != other:
                return "output", (
                    f"Processor {processor} prints {_quoted(other)}; in the first order it prints "
                    f"{_quoted(one)}."
                )
    if first.left != end.left:
        left, before = (dict(run.left) for run in (end, first))
        at = min(dict(set(first.left) ^ set(end.left)))
        return "unreceived", (
            f"Processor {at} leaves {left.get(at, 0)} messages unreceived; in the first order "
            f"{before.get(at, 0)}."
        )
    return "", ""


def _quoted(line: str | None) -> str:
    """Return a line quoted for a sentence."""
    if line is None:
        return "nothing more"
    return repr(line if len(line) <= SHOWN else line[:SHOWN] + " ..")


SHOWN = 100
"""Maximum number of characters of a quoted line."""

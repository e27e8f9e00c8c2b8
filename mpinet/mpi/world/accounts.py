"""Accounts: the cost of each kind of call on each line of the script."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from types import CodeType, FrameType
from typing import Any, TypeAlias

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.process.where import shown


@dataclass(slots=True)
class Account:
    """The cost of a kind of call on a line of the script."""

    kind: str
    """Name of the call."""
    file: str
    """File of the call, independent of its folder (`Naming`)."""
    line: int
    """Line of the call."""
    number: int = -1
    """Number of the account, the same on all ranks; encodes the rank that opened it."""
    calls: int = 0
    """Number of calls by processors."""
    sent: int = 0
    """Total size of message bodies, in bytes."""
    messages: int = 0
    """Number of messages on the machine."""
    hops: int = 0
    """Total hops of these messages."""
    intervals: array[int] = field(default_factory=lambda: array("q"))
    """Steps with such messages in flight, as ascending pairs: after the first number, up to the
    second.
    """
    code: CodeType | None = None
    """Code object of the calls, on the rank that opened the account."""

    @classmethod
    def of(cls, row: Sequence[Any]) -> Account:
        """Return the account stored in a row."""
        *words, intervals = row
        account = cls(*words)
        account.intervals.fromlist(intervals)
        return account

    @property
    def row(self) -> list[Any]:
        """All fields except `code`, as lists, texts and numbers."""
        *words, intervals, _ = (getattr(self, name) for name in self.__slots__)
        return [*words, intervals.tolist()]

    @property
    def steps(self) -> int:
        """Number of steps with messages of this account in flight."""
        return sum(self.intervals[1::2]) - sum(self.intervals[::2])

    @property
    def place(self) -> str:
        """File and line of the call for users, on the rank that opened the account."""
        file = self.file if self.code is None else shown(self.code.co_filename)
        return f"{file}:{self.line}"

    @property
    def site(self) -> tuple[str, str, int]:
        """Call, file and line, as used in recordings."""
        return self.kind, self.file, self.line

    def cover(self, begin: int, end: int) -> None:
        """Add steps with messages in flight; `end` must not be before any earlier end."""
        if begin == end:
            return
        # Intervals are added by their ends. An interval that begins earlier absorbs all overlapping
        # intervals. The list stays ascending and disjoint, and its length is bounded by the number
        # of pauses.
        intervals = self.intervals
        while intervals and intervals[-1] >= begin:
            begin = min(begin, intervals[-2])
            del intervals[-2:]
        intervals.extend((begin, end))


class Accounts:
    """The accounts opened by this rank's processors.

    Parameters
    ----------
    rank, ranks : int
        This rank, and the number of ranks.
    """

    naming: Callable[[FrameType], str]
    """Returns the file name of a frame's code (`Naming`)."""

    def __init__(self, rank: int, ranks: int) -> None:
        self.accounts: list[Account] = []
        """Accounts in the order of opening."""
        self._rank = rank
        self._ranks = ranks
        self._places: dict[tuple[str, int, int], Account] = {}

    def at(self, kind: str, frame: FrameType) -> Account:
        """Return the cost account of the call that a frame is making.

        Each kind of call at each instruction of the script has its own account, opened by the
        first such call.
        """
        # Looking up a line number costs more than a call, but the instruction's number is at hand.
        # The code's id is a safe key, because the account keeps the code alive.
        place = kind, id(frame.f_code), frame.f_lasti
        account = self._places.get(place)
        if account is None:
            account = self._places[place] = self.on_line(kind, frame, frame.f_lineno)
        return account

    def on_line(self, kind: str, frame: FrameType, line: int) -> Account:
        """Open an account for a kind of call on a line, which the frame may have left."""
        # Ranks number their accounts without communication. The remainder identifies the opening
        # rank.
        number = len(self.accounts) * self._ranks + self._rank
        account = Account(kind, self.naming(frame), line, number)
        account.code = frame.f_code
        self.accounts.append(account)
        return account

    def places(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return call and line of the accounts among `numbers` that this rank has opened."""
        own = (number for number in numbers if number >= 0 and number % self._ranks == self._rank)
        accounts = ((number, self.accounts[number // self._ranks]) for number in own)
        return {number: f"{account.kind} at {account.place}" for number, account in accounts}


Shares = Sequence[Sequence[Account]]
"""The accounts of all ranks, each in the order of opening."""


def numbered(shares: Shares, number: int) -> Account:
    """Return the account with a number, which encodes rank and index."""
    return shares[number % len(shares)][number // len(shares)]


def books(shares: Shares, arrivals: Sequence[Mapping[int, Account]]) -> list[Account]:
    """Merge the accounts of all ranks into a single list, by file, line and kind.

    Parameters
    ----------
    shares : sequence of sequences of Account
        Calls and sent bytes of each rank's processors.
    arrivals : sequence of mappings from int to Account
        Costs of messages that arrived on each rank, by the number of the charged account.
    """
    found: dict[tuple[str, int, str], Account] = {}
    spans: dict[tuple[str, int, str], list[int]] = {}
    for accounts in shares:
        for account in accounts:
            key = account.file, account.line, account.kind
            total = found.setdefault(key, Account(account.kind, account.file, account.line))
            total.calls += account.calls
            total.sent += account.sent
    for booked in arrivals:
        for number, arrived in booked.items():
            account = numbered(shares, number)
            key = account.file, account.line, account.kind
            found[key].messages += arrived.messages
            found[key].hops += arrived.hops
            spans.setdefault(key, []).extend(arrived.intervals)
    for key, intervals in spans.items():
        found[key].intervals = union(intervals)
    return [found[key] for key in sorted(found) if found[key].calls]


def union(intervals: Sequence[int]) -> array[int]:
    """Return the union of intervals of several accounts."""
    whole = Account("", "", 0)
    pairs = zip(intervals[::2], intervals[1::2], strict=True)
    for begin, end in sorted(pairs, key=itemgetter(1)):
        whole.cover(begin, end)
    return whole.intervals


AT_ONCE = 4096
"""Number of messages charged together, because few messages arrive in most steps."""


Numbers: TypeAlias = Ints | Sequence[int]
"""A number for each of some messages."""


class ArrivalCosts:
    """Costs of messages that arrived on this rank, by account."""

    def __init__(self) -> None:
        self._booked: dict[int, Account] = {}
        self._noted: list[tuple[Numbers, Numbers, Numbers, int]] = []
        self._messages = 0

    def note(self, accounts: Numbers, hops: Numbers, born: Numbers, now: int) -> None:
        """Record messages that arrived after step `now`."""
        self._noted.append((accounts, hops, born, now))
        self._messages += len(accounts)
        if self._messages >= AT_ONCE:
            self._book()

    @property
    def booked(self) -> dict[int, Account]:
        """Costs of messages, by the number of the charged account."""
        if self._noted:
            self._book()
        return self._booked

    def _book(self) -> None:
        """Charge the recorded messages, with a row for each account and step."""
        *columns, steps = zip(*self._noted, strict=True)
        accounts, hops, born = map(np.concatenate, columns)
        now = np.array(steps, np.int64).repeat([len(one) for one in columns[0]])
        self._noted, self._messages = [], 0
        # Sorted, so the sums per account and step are slices. A dictionary entry per message would
        # be the most expensive part of a step.
        order = np.lexsort((now, accounts))
        accounts, now = accounts[order], now[order]
        differs = (accounts[1:] != accounts[:-1]) | (now[1:] != now[:-1])
        begins = np.concatenate([[0], 1 + np.flatnonzero(differs)])
        counts = np.diff(begins, append=len(accounts))
        crossed = np.add.reduceat(hops[order], begins)
        first = np.minimum.reduceat(born[order], begins)
        rows = accounts[begins], counts, crossed, first, now[begins]
        for number, messages, links, begin, end in zip(
            *(row.tolist() for row in rows), strict=True
        ):
            account = self._booked.get(number)
            if account is None:
                account = self._booked[number] = Account("", "", 0)
            account.messages += messages
            account.hops += links
            account.cover(begin, end)

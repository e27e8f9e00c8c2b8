"""The accounts of each kind of call on each line of the script: what it costs the machine."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from types import CodeType, FrameType
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.process.where import shown


@dataclass(slots=True)
class Account:
    """One kind of call on one line."""

    kind: str
    """Name of the call."""
    file: str
    """File of the call, wherever the file lies (`Naming`)."""
    line: int
    """Line of the call."""
    number: int = -1
    """The same on all ranks: it tells the rank that has opened the account, too."""
    calls: int = 0
    """Number of such calls that processors have made."""
    sent: int = 0
    """Bytes of the messages' bodies."""
    messages: int = 0
    """Messages of the machine."""
    hops: int = 0
    """Links that these messages have crossed."""
    intervals: array[int] = field(default_factory=lambda: array("q"))
    """Steps in which such messages were in flight: after the first number, up to the second, and so
    on, ascending."""
    code: CodeType | None = None
    """The code that makes the calls, on the rank that has opened the account."""

    @classmethod
    def of(cls, row: Sequence[Any]) -> Account:
        """The account that a row tells of."""
        *words, intervals = row
        account = cls(*words)
        account.intervals.fromlist(intervals)
        return account

    @property
    def row(self) -> list[Any]:
        """All that it says, as lists, texts and numbers."""
        *words, intervals, _ = (getattr(self, name) for name in self.__slots__)
        return [*words, intervals.tolist()]

    @property
    def steps(self) -> int:
        """Steps in which messages of this account were in flight."""
        return sum(self.intervals[1::2]) - sum(self.intervals[::2])

    @property
    def place(self) -> str:
        """Place of the call as a person finds it; on the rank that has opened the account."""
        file = self.file if self.code is None else shown(self.code.co_filename)
        return f"{file}:{self.line}"

    @property
    def site(self) -> tuple[str, str, int]:
        """Place of the call as a recording knows it."""
        return self.kind, self.file, self.line

    def cover(self, begin: int, end: int) -> None:
        """Note that messages were in flight; `end` is not before any earlier one."""
        if begin == end:
            return
        # Intervals come by their ends; one that begins earlier swallows those it overlaps, so the
        # list stays ascending and disjoint, and its length is bounded by the pauses between them.
        intervals = self.intervals
        while intervals and intervals[-1] >= begin:
            begin = min(begin, intervals[-2])
            del intervals[-2:]
        intervals.extend((begin, end))


class Accounts:
    """The accounts that this rank's processors have opened.

    Parameters
    ----------
    rank, ranks : int
        This rank, and of how many.
    """

    naming: Callable[[FrameType], str]
    """Names the file of a frame's code (`Naming`)."""

    def __init__(self, rank: int, ranks: int) -> None:
        self.accounts: list[Account] = []
        """By their order of opening."""
        self._rank = rank
        self._ranks = ranks
        self._places: dict[tuple[str, int, int], Account] = {}

    def at(self, kind: str, frame: FrameType) -> Account:
        """The account of a call that a frame makes."""
        # Looking a line number up costs more than a call; an instruction's number is at hand. The
        # code's id is safe as a key, since the account keeps the code alive.
        place = kind, id(frame.f_code), frame.f_lasti
        account = self._places.get(place)
        if account is None:
            # Ranks number their accounts without a message. The remainder tells which rank to ask.
            number = len(self.accounts) * self._ranks + self._rank
            account = Account(kind, self.naming(frame), frame.f_lineno, number)
            account.code = frame.f_code
            self.accounts.append(account)
            self._places[place] = account
        return account


Shares = Sequence[Sequence[Account]]
"""The accounts of all ranks, in the order in which each has opened its own."""


def numbered(shares: Shares, number: int) -> Account:
    """The account of a number: it says the rank that has opened it, and which of its own."""
    return shares[number % len(shares)][number // len(shares)]


def books(shares: Shares, arrivals: Sequence[Mapping[int, Account]]) -> list[Account]:
    """All ranks' accounts as one list, by file, line and kind.

    Parameters
    ----------
    shares : sequence of sequences of Account
        What each rank's processors have called and sent.
    arrivals : sequence of mappings from int to Account
        What each rank has booked of messages that arrived, by the number of the account that pays.
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
    """The steps of several accounts' intervals, as one account has them."""
    whole = Account("", "", 0)
    pairs = zip(intervals[::2], intervals[1::2], strict=True)
    for begin, end in sorted(pairs, key=itemgetter(1)):
        whole.cover(begin, end)
    return whole.intervals


AT_ONCE = 4096
"""Messages that are booked together: in most steps of most scripts few arrive."""


class ArrivalCosts:
    """Costs of messages that arrived on this rank, by the account that sent them."""

    def __init__(self) -> None:
        self._booked: dict[int, Account] = {}
        self._noted: list[tuple[Ints, Ints, Ints, int]] = []
        self._messages = 0

    def note(self, accounts: Ints, hops: Ints, born: Ints, now: int) -> None:
        """Note messages that have arrived after step `now`."""
        self._noted.append((accounts, hops, born, now))
        self._messages += len(accounts)
        if self._messages >= AT_ONCE:
            self._book()

    @property
    def booked(self) -> dict[int, Account]:
        """Costs of messages, by the number of the account that pays."""
        if self._noted:
            self._book()
        return self._booked

    def _book(self) -> None:
        """Book what has been noted: a row for each account and step."""
        *columns, steps = zip(*self._noted, strict=True)
        accounts, hops, born = map(np.concatenate, columns)
        now = np.array(steps, np.int64).repeat([len(one) for one in columns[0]])
        self._noted, self._messages = [], 0
        # Sorted, so that sums per account and step are slices. A dictionary entry per message would
        # be the dearest part of a step.
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

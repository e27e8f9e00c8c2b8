"""What each kind of call, on each line of the script, costs the machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType

import numpy as np
from numpy.typing import NDArray

from mpinet.process.where import shown

Numbers = NDArray[np.int64]
Interval = tuple[int, int]

OWN_ROOM = os.path.dirname(os.path.abspath(__file__))


@dataclass
class Account:
    """One kind of call on one line.

    Attributes
    ----------
    kind, file, line
        The call's name, and where it is written.
    calls : int
        How often processors have made it.
    sent : int
        Bytes of the messages' bodies.
    messages, hops : int
        Messages of the machine, and the links that they have crossed.
    intervals : list of (int, int)
        Steps in which such messages were under way: after the first, up to the second.
    """

    kind: str
    file: str
    line: int
    calls: int = 0
    sent: int = 0
    messages: int = 0
    hops: int = 0
    intervals: list[Interval] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """Steps in which messages of this account were under way."""
        return sum(end - begin for begin, end in self.intervals)

    def cover(self, begin: int, end: int) -> None:
        """Note that messages were under way; `end` is not before any earlier one."""
        if begin == end:
            return
        while self.intervals and self.intervals[-1][1] >= begin:
            begin = min(begin, self.intervals.pop()[0])
        self.intervals.append((begin, end))


class Accounts:
    """The accounts that this rank's processors have opened.

    An account's number is the same on all ranks: it names the rank that has opened it, too.

    Parameters
    ----------
    rank, ranks : int
        This rank, and of how many.
    """

    def __init__(self, rank: int, ranks: int) -> None:
        self.accounts: list[Account] = []
        self._rank = rank
        self._ranks = ranks
        self._numbers: dict[tuple[str, CodeType, int], int] = {}

    def at(self, kind: str, frame: FrameType) -> int:
        """The number of the account of a call that a frame makes."""
        key = kind, frame.f_code, frame.f_lasti
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._open(kind, frame)
        self.of(number).calls += 1
        return number

    def of(self, number: int) -> Account:
        """An account that this rank's processors have opened."""
        return self.accounts[number // self._ranks]

    def add(self, number: int, size: int) -> None:
        """Note that a message's body of so many bytes is sent."""
        self.of(number).sent += size

    def _open(self, kind: str, frame: FrameType) -> int:
        """Open an account."""
        file = shown(frame.f_code.co_filename)
        self.accounts.append(Account(kind, file, frame.f_lineno))
        return (len(self.accounts) - 1) * self._ranks + self._rank


def books(
    shares: Sequence[Sequence[Account]], arrivals: Sequence[Mapping[int, Account]]
) -> list[Account]:
    """All ranks' accounts as one list, by file, line and kind.

    Parameters
    ----------
    shares : sequence of sequences of Account
        What each rank's processors have called and sent.
    arrivals : sequence of mappings from int to Account
        What each rank has booked of messages that arrived, by the number of the account that pays.
    """
    found: dict[tuple[str, int, str], Account] = {}
    spans: dict[tuple[str, int, str], list[Interval]] = {}
    for accounts in shares:
        for account in accounts:
            key = account.file, account.line, account.kind
            one = found.setdefault(key, Account(account.kind, account.file, account.line))
            one.calls += account.calls
            one.sent += account.sent
    for booked in arrivals:
        for number, arrived in booked.items():
            account = shares[number % len(shares)][number // len(shares)]
            key = account.file, account.line, account.kind
            found[key].messages += arrived.messages
            found[key].hops += arrived.hops
            spans.setdefault(key, []).extend(arrived.intervals)
    for key, intervals in spans.items():
        found[key].intervals = union(intervals)
    return [found[key] for key in sorted(found)]


def union(intervals: Sequence[Interval]) -> list[Interval]:
    """The same steps as disjoint intervals, ascending."""
    whole = Account("", "", 0)
    for begin, end in sorted(intervals, key=lambda interval: interval[1]):
        whole.cover(begin, end)
    return whole.intervals


class Arrivals:
    """What messages have cost that arrived on this rank, by the account that sent them."""

    def __init__(self) -> None:
        self.booked: dict[int, Account] = {}

    def book(self, accounts: Numbers, hops: Numbers, born: Numbers, now: int) -> None:
        """Book messages that have arrived after step `now`."""
        chosen, places, counts = np.unique(accounts, return_inverse=True, return_counts=True)
        crossed = np.bincount(places, weights=hops).astype(np.int64)
        first = np.full(len(chosen), now)
        np.minimum.at(first, places, born)
        rows = zip(chosen.tolist(), counts.tolist(), crossed.tolist(), first.tolist(), strict=True)
        for number, messages, links, begin in rows:
            account = self.booked.get(number)
            if account is None:
                account = self.booked[number] = Account("", "", 0)
            account.messages += messages
            account.hops += links
            account.cover(begin, now)

"""Contents of collectives' messages besides plain bytes: items or results of several members.

Their length is the size of the contained bytes. A sent body also belongs to its receiver and is
never modified.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Combine: TypeAlias = Callable[[bytes, bytes], bytes]
"""Combines two operands; the first is from lower ranks."""


class Items:
    """Items of several members, in spans of consecutive ranks.

    Parameters
    ----------
    spans : list of (int, list of bytes)
        First rank and items of each span, ascending.
    nbytes : int
        Total size of the items in bytes.
    """

    __slots__ = ("nbytes", "spans")

    def __init__(self, spans: list[tuple[int, list[bytes]]], nbytes: int):
        self.spans = spans
        self.nbytes = nbytes

    @classmethod
    def of(cls, rank: int, item: bytes) -> Items:
        """Return the item of a single member."""
        return cls([(rank, [item])], len(item))

    def __len__(self) -> int:
        return self.nbytes

    def and_of(self, others: Items) -> Items:
        """Return these items together with the items of further members."""
        spans: list[tuple[int, list[bytes]]] = []
        end = -1
        for first, items in sorted(self.spans + others.spans):
            if first == end:
                # Adjacent spans merge, and a gather along a tree ends with a single span. A table
                # by rank would be rebuilt at every hop.
                spans[-1][1].extend(items)
            else:
                spans.append((first, list(items)))
            end = first + len(items)
        return Items(spans, self.nbytes + others.nbytes)

    def all(self) -> list[bytes]:
        """Return the items of all members by rank."""
        return [item for _, items in self.spans for item in items]


class Bundle:
    """Items for several members, in the order of a walk.

    Parameters
    ----------
    items : list of bytes
        The items.
    """

    __slots__ = ("items",)

    def __init__(self, items: list[bytes]):
        self.items = items

    def __len__(self) -> int:
        return sum(map(len, self.items))


class CombinedRuns:
    """Results of runs of consecutive ranks, to be combined in rank order.

    Parameters
    ----------
    runs : list of (int, int, bytes)
        First rank, last rank and result of each run, ascending.
    """

    __slots__ = ("runs",)

    def __init__(self, runs: list[tuple[int, int, bytes]]):
        self.runs = runs

    def __len__(self) -> int:
        return sum(len(result) for *_, result in self.runs)

    def and_of(self, others: CombinedRuns, combine: Combine) -> CombinedRuns:
        """Merge with further results; runs of adjacent ranks are combined."""
        runs: list[tuple[int, int, bytes]] = []
        for first, last, result in sorted(self.runs + others.runs):
            if runs and first <= runs[-1][1] + 1:
                begin, end, low = runs[-1]
                runs[-1] = begin, max(end, last), combine(low, result)
            else:
                runs.append((first, last, result))
        return CombinedRuns(runs)


Part: TypeAlias = bytes | CombinedRuns
"""The result of some members: bytes if it may be combined in any order."""

BEFORE = -1
"""Rank of a result without rank order when it is combined with ordered results."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Reduction of the members' operands to a single result."""

    combine: Combine
    """Combines two operands."""

    def part(self, rank: int, operand: bytes, commutes: bool) -> Part:
        """Return a member's operand as a partial result; `commutes` drops its rank."""
        return operand if commutes else CombinedRuns([(rank, rank, operand)])

    def join(self, one: Part, other: Part) -> Part:
        """Combine two partial results."""
        # Both parts may be combined in any order, therefore their messages carry no ranks.
        if type(one) is bytes and type(other) is bytes:
            return self.combine(one, other)
        return _ranked(one).and_of(_ranked(other), self.combine)

    def result(self, part: Part) -> bytes:
        """Return the final value of the complete reduction."""
        return part if isinstance(part, bytes) else part.runs[0][2]


def _ranked(part: Part) -> CombinedRuns:
    """Return a partial result together with the ranks of its operands."""
    return part if isinstance(part, CombinedRuns) else CombinedRuns([(BEFORE, BEFORE, part)])

"""The contents of collectives' messages beside plain bytes: several members' items, or results.

Their length is that of the bytes within. A body that has been sent belongs to its receiver, too:
nobody changes one that there is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Combine: TypeAlias = Callable[[bytes, bytes], bytes]
"""Gives the result of two operands, that of the lower ranks first."""


class Items:
    """Items of several members, in spans of consecutive ranks.

    Parameters
    ----------
    spans : list of (int, list of bytes)
        First ranks, ascending, and the items from them on.
    nbytes : int
        The items' bytes.
    """

    __slots__ = ("nbytes", "spans")

    def __init__(self, spans: list[tuple[int, list[bytes]]], nbytes: int):
        self.spans = spans
        self.nbytes = nbytes

    @classmethod
    def of(cls, rank: int, item: bytes) -> Items:
        """The item of one member."""
        return cls([(rank, [item])], len(item))

    def __len__(self) -> int:
        return self.nbytes

    def and_of(self, others: Items) -> Items:
        """These items and those of other members."""
        spans: list[tuple[int, list[bytes]]] = []
        end = -1
        for first, items in sorted(self.spans + others.spans):
            if first == end:
                # Neighbouring spans merge, so a gather along a tree ends with one span. A table by
                # rank would be built at every hop.
                spans[-1][1].extend(items)
            else:
                spans.append((first, list(items)))
            end = first + len(items)
        return Items(spans, self.nbytes + others.nbytes)

    def all(self) -> list[bytes]:
        """The items by rank."""
        return [item for _, items in self.spans for item in items]


class Bundle:
    """Items on their way to several members, in the order of a walk.

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
    """Results of runs of consecutive ranks, which are to be combined in this order.

    Parameters
    ----------
    runs : list of (int, int, bytes)
        First ranks, ascending, last ranks, and results.
    """

    __slots__ = ("runs",)

    def __init__(self, runs: list[tuple[int, int, bytes]]):
        self.runs = runs

    def __len__(self) -> int:
        return sum(len(result) for *_, result in self.runs)

    def and_of(self, others: CombinedRuns, combine: Combine) -> CombinedRuns:
        """These and other results, combined where they are next to one another."""
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
"""The rank of a result whose ranks do not matter, among those whose ranks do."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Rule by which the members' operands become one result."""

    combine: Combine
    """Gives the result of two operands."""

    def part(self, rank: int, operand: bytes, commutes: bool) -> Part:
        """A member's operand, and whether its place among the others does not matter."""
        return operand if commutes else CombinedRuns([(rank, rank, operand)])

    def join(self, one: Part, other: Part) -> Part:
        """The result of two parts."""
        # Both may be combined in any order, so no ranks have to travel with them.
        if type(one) is bytes and type(other) is bytes:
            return self.combine(one, other)
        return _ranked(one).and_of(_ranked(other), self.combine)

    def result(self, part: Part) -> bytes:
        """The result of all members."""
        return part if isinstance(part, bytes) else part.runs[0][2]


def _ranked(part: Part) -> CombinedRuns:
    """A part with its ranks."""
    return part if isinstance(part, CombinedRuns) else CombinedRuns([(BEFORE, BEFORE, part)])

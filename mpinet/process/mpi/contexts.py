"""The contexts that keep communicators' messages apart, under numbers of this rank's own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

WORLD, SELF = "world", "self"
"""Names of the contexts of the whole world, and of every processor alone."""

PAIRS, COLLECTIVES = 0, 1
"""Parts of a context: for messages between two processors, and for those of collectives."""


class Contexts:
    """Numbers of contexts on this rank.

    A context's name is the same on all ranks. It has two numbers on a rank: an even one for
    messages between two processors, and the next for those of collectives.

    Parameters
    ----------
    size : int
        Processors of the world.
    """

    def __init__(self, size: int) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._names: list[Hashable] = []
        self._members: dict[int, Sequence[int]] = {}
        self._members[self.number((WORLD, PAIRS))] = range(size)
        self.number((SELF, PAIRS))

    def number(self, name: tuple[Hashable, int]) -> int:
        """The number that stands for a name's part."""
        whole, part = name
        found = self._numbers.get(whole)
        if found is None:
            found = self._numbers[whole] = len(self._names)
            self._names.append(whole)
        return 2 * found + part

    def name(self, number: int) -> tuple[Hashable, int]:
        """The name and the part that a number stands for."""
        return self._names[number // 2], number % 2

    def open(self, name: Hashable, members: Sequence[int]) -> int:
        """The number of a communicator's context; `members` are its ranks' processors.

        Of an intercommunicator they are those of the group that messages go to.
        """
        number = self.number((name, PAIRS))
        self._members[number] = members
        return number

    def members(self, number: int, processor: int) -> Sequence[int]:
        """The processors of the ranks that a member's messages go to in a context."""
        return self._members.get(number & ~1, (processor,))

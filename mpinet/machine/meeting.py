"""Meetings of ranks: what all must know, and who sends how many to whom, in log2(ranks) rounds.

In round k a rank sends one message to the rank 2^k above it, round the circle of ranks, and gets
one from the rank 2^k below (Bruck et al. 1997). Facts for all are merged on the way, and each count
for a rank is handed on until it is there. So a rank sends ceil(log2 ranks) messages, of a fixed
length and a word for every count on its way: nothing else grows with the number of ranks. All come
at the same time and in the same order, whatever the ranks' speed.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Array, Ints

# With eight a message has 256 bytes, which MPI libraries send eagerly and in one piece.
FEW = 8
"""Most integers of a rank that are added up, or compared, in a meeting."""

MAXIMA, SUMS = 5 + FEW, 1 + FEW
"""Numbers of which a meeting finds the largest, and of those that it adds up."""

FIXED = 1 + MAXIMA + 2 * SUMS
"""Words of every message: how many counts it hands on, and the facts."""

# Buffers are allocated once, for the usual sparse pattern; denser ones pay for a second message.
ROOM = 240
"""Most counts in a round's message; if there are more, a second one brings the others."""

# A count and its distance share a word: 2^20 ranks, and 2^43 records.
RANK_BITS = 20
"""Low bits of a count's word: how far it goes round the circle."""

DISTANCE = (1 << RANK_BITS) - 1

NOTHING: Ints = np.empty(0, np.int64)


class Meeting:
    """One rank's part in the meetings of all.

    Parameters
    ----------
    rank, size : int
        This rank, and how many there are: at most 2^20.
    """

    maxima: Ints
    """This rank's numbers before the rounds; afterwards the largest of all ranks' numbers. Shape
    (MAXIMA,)."""
    sums: Ints
    """This rank's numbers before the rounds; afterwards the sums of all ranks' numbers. Shape
    (SUMS,)."""
    message: Ints
    """Words that this rank sends in a round. Shape (FIXED + ROOM,)."""
    answer: Ints
    """Memory for the words that come in a round. Shape (FIXED + ROOM,)."""

    def __init__(self, rank: int, size: int):
        self.rank, self.size = rank, size
        far = [1 << k for k in range(rounds(size))]
        self.hops: list[tuple[int, int, int]] = [
            (by, (rank + by) % size, (rank - by) % size) for by in far
        ]
        """Distance between partners, rank above and rank below, for each round."""
        self.message, self.answer = np.zeros((2, FIXED + ROOM), np.int64)
        self._plain = self.message[:FIXED]
        self.maxima, self.sums, self._last = _parts(self.message)
        self._their_maxima, self._their_sums, self._their_last = _parts(self.answer)
        # With a power of two, partial sums never overlap, and the second set of sums is not needed.
        self._even = size & (size - 1) == 0
        self._counts: list[int] = []
        self.to: list[tuple[int, int]] = []
        """Ranks that get records from this rank, and the number of records, in ascending order."""
        self.come: list[tuple[int, int]] = []
        """Ranks that send records to this rank, and the number of records, in ascending order."""

    def begin(self, counts: Ints | None = None) -> None:
        """Bring, beside `maxima` and `sums`, how many records go to each rank; None: none do."""
        self.to = []
        if not self._even:
            self._last[:] = 0
        if counts is not None:
            others = counts.nonzero()[0]
            self.to = list(zip(others.tolist(), counts[others].tolist(), strict=True))
        rank, size = self.rank, self.size
        # Relative distances: the bits of the distance say in which rounds a count moves, whatever
        # the rank.
        self._counts = [(other - rank) % size + (count << RANK_BITS) for other, count in self.to]

    def out(self, distance: int) -> tuple[Ints, Ints]:
        """Return a round's message, and its second one, which is most often empty."""
        # A count moves by 2^k in round k if its distance has that bit. After all rounds it has
        # arrived.
        going = [count for count in self._counts if count & distance]
        self.message[0] = len(going)
        if not going:
            return self._plain, NOTHING
        self._counts = [count for count in self._counts if not count & distance]
        first = going[:ROOM]
        self.message[FIXED : FIXED + len(first)] = first
        more = np.array(going[ROOM:], np.int64) if len(going) > ROOM else NOTHING
        return self.message[: FIXED + len(first)], more

    @property
    def missing(self) -> int:
        """Number of counts that a second message brings, once the first is in `answer`."""
        return max(0, int(self.answer[0]) - ROOM)

    def take(self, distance: int, more: Ints = NOTHING) -> None:
        """Merge what came in `answer`, and the second message."""
        # Idempotent, so ranges of ranks may overlap. For sums they must not, hence the second set
        # below.
        np.maximum(self.maxima, self._their_maxima, out=self.maxima)
        # Sums are those of the last 2^k ranks up to this one, and of as many as k bits of the
        # number of ranks say: in the end these are all, and none has been added twice.
        if not self._even and self.size & distance:
            np.add(self.sums, self._their_last, out=self._last)
        np.add(self.sums, self._their_sums, out=self.sums)
        came = int(self.answer[0])
        if came:
            self._counts += self.answer[FIXED : FIXED + min(came, ROOM)].tolist()
            self._counts += more.tolist()

    def end(self) -> None:
        """Leave the sums of all in `sums`, and in `come` who sends how many."""
        if not self._even:
            self.sums[:] = self._last
        rank, size = self.rank, self.size
        come = [((rank - (count & DISTANCE)) % size, count >> RANK_BITS) for count in self._counts]
        # Sorted by sender: records are then taken in rank order, on any machine and in any timing.
        self.come = sorted(come)


def rounds(size: int) -> int:
    """Return in how many rounds so many ranks meet."""
    return (size - 1).bit_length()


def volume(rank: int, counts: Ints) -> int:
    """Bytes that a rank sends in a meeting, if it hands on as many counts as others do for it."""
    size = len(counts)
    away = (np.flatnonzero(counts) - rank) % size
    handed = sum(int(np.count_nonzero(away & (1 << k))) for k in range(rounds(size)))
    return 8 * (FIXED * rounds(size) + handed)


def _parts(message: Ints) -> tuple[Array, Array, Array]:
    """Views of a message: numbers to compare, to add up, and those of the last ranks."""
    second = 1 + MAXIMA + SUMS
    return message[1 : 1 + MAXIMA], message[1 + MAXIMA : second], message[second:FIXED]

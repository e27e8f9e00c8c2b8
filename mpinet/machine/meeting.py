"""Meetings of ranks: global maxima and sums, and counts of records, in log2(ranks) rounds.

In round k a rank sends one message to the rank 2^k above on the circle of ranks (Bruck et al.
1997), and receives one from the rank 2^k below. Maxima and sums are merged on the way, and each
count is forwarded to its rank. A rank sends ceil(log2 ranks) messages of fixed length plus one word
per count. Nothing else grows with the number of ranks. Messages arrive in the same order at any
speed of the ranks.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Array, Ints

# With eight integers a message has 256 bytes: MPI libraries send it eagerly and in one piece.
FEW = 8
"""Largest number of a rank's own integers that a meeting adds up or compares."""

MAXIMA, SUMS = 5 + FEW, 1 + FEW
"""Number of integers that a meeting reduces with max, and number that it reduces with sum."""

FIXED = 1 + MAXIMA + 2 * SUMS
"""Words of every message: the number of forwarded counts, the maxima and two sets of sums."""

# Buffers are allocated once, for sparse patterns; dense patterns need a second message.
ROOM = 240
"""Largest number of counts in a round's first message; a second message contains the rest."""

# A count and its distance share a word: 2^20 ranks, and 2^43 records.
RANK_BITS = 20
"""Number of low bits of a count's word that hold the count's distance on the circle of ranks."""

DISTANCE = (1 << RANK_BITS) - 1

NOTHING: Ints = np.empty(0, np.int64)


class Meeting:
    """One rank's part in the meetings of all ranks.

    Parameters
    ----------
    rank, size : int
        This rank, and the number of ranks: at most 2^20.
    """

    maxima: Ints
    """This rank's numbers before the rounds; afterwards the largest of all ranks' numbers. Shape
    (MAXIMA,).
    """
    sums: Ints
    """This rank's numbers before the rounds; afterwards the sums of all ranks' numbers. Shape
    (SUMS,).
    """
    message: Ints
    """Words sent by this rank in a round. Shape (FIXED + ROOM,)."""
    answer: Ints
    """Buffer for the words received in a round. Shape (FIXED + ROOM,)."""

    def __init__(self, rank: int, size: int):
        self.rank, self.size = rank, size
        far = [1 << k for k in range(rounds(size))]
        self.hops: list[tuple[int, int, int]] = [
            (by, (rank + by) % size, (rank - by) % size) for by in far
        ]
        """Distance to the partners, rank above and rank below, for each round."""
        self.message, self.answer = np.zeros((2, FIXED + ROOM), np.int64)
        self._plain = self.message[:FIXED]
        self.maxima, self.sums, self._last = _parts(self.message)
        self._their_maxima, self._their_sums, self._their_last = _parts(self.answer)
        # For a power of two, partial sums never overlap, and the second set of sums is not needed.
        self._even = size & (size - 1) == 0
        self._counts: list[int] = []
        self.to: list[tuple[int, int]] = []
        """Ranks that get records from this rank, and the number of records, in ascending order."""
        self.come: list[tuple[int, int]] = []
        """Ranks that send records to this rank, and the number of records, in ascending order."""

    def begin(self, counts: Ints | None = None) -> None:
        """Begin a meeting; `counts` is the number of records for each rank, None for no records."""
        self.to = []
        if not self._even:
            self._last[:] = 0
        if counts is not None:
            others = counts.nonzero()[0]
            self.to = list(zip(others.tolist(), counts[others].tolist(), strict=True))
        rank, size = self.rank, self.size
        # Relative distances: for any rank, the bits of the distance are the rounds in which a count
        # moves.
        self._counts = [(other - rank) % size + (count << RANK_BITS) for other, count in self.to]

    def out(self, distance: int) -> tuple[Ints, Ints]:
        """Return a round's message, and its second message, which is usually empty."""
        # A count moves by 2^k in round k if its distance has this bit. After all rounds the count
        # has arrived.
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
        """Number of counts in the second message, known once the first message is in `answer`."""
        return max(0, int(self.answer[0]) - ROOM)

    def take(self, distance: int, more: Ints = NOTHING) -> None:
        """Merge the received messages of a round: `answer`, and the second message `more`."""
        # Maxima are idempotent, so ranges of ranks may overlap. Sums must not overlap: see the
        # second set of sums below.
        np.maximum(self.maxima, self._their_maxima, out=self.maxima)
        # `sums` covers the last 2^k ranks up to this rank. `_last` covers as many ranks as the low
        # k bits of `size`. In the end `_last` covers all ranks, each once.
        if not self._even and self.size & distance:
            np.add(self.sums, self._their_last, out=self._last)
        np.add(self.sums, self._their_sums, out=self.sums)
        came = int(self.answer[0])
        if came:
            self._counts += self.answer[FIXED : FIXED + min(came, ROOM)].tolist()
            self._counts += more.tolist()

    def end(self) -> None:
        """Finish a meeting: set `sums` to all ranks' sums, and `come` to the incoming counts."""
        if not self._even:
            self.sums[:] = self._last
        rank, size = self.rank, self.size
        come = [((rank - (count & DISTANCE)) % size, count >> RANK_BITS) for count in self._counts]
        # Sorted by sender: records are then taken in rank order, on any machine and in any timing.
        self.come = sorted(come)


def rounds(size: int) -> int:
    """Return the number of rounds in a meeting of `size` ranks."""
    return (size - 1).bit_length()


def volume(rank: int, counts: Ints) -> int:
    """Return the estimated bytes sent by a rank in a meeting, including forwarded counts.

    The estimate assumes that a rank forwards as many counts as other ranks forward for this rank.
    """
    size = len(counts)
    away = (np.flatnonzero(counts) - rank) % size
    handed = sum(int(np.count_nonzero(away & (1 << k))) for k in range(rounds(size)))
    return 8 * (FIXED * rounds(size) + handed)


def _parts(message: Ints) -> tuple[Array, Array, Array]:
    """Return views of a message: the maxima, the sums, and the sums over the last ranks."""
    second = 1 + MAXIMA + SUMS
    return message[1 : 1 + MAXIMA], message[1 + MAXIMA : second], message[second:FIXED]

"""A rank without other ranks: its messages are counted, and its received records are invented."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.base.memory import require_memory
from mpinet.errors import TransportError
from mpinet.machine.meeting import rounds, volume
from mpinet.machine.transport import Local, Received, Room


class Dry(Local):
    """Plays rank r of R on one process: counts sent messages, receives given records.

    Parameters
    ----------
    rank, size : int
        Rank to play, and number of ranks.
    """

    def __init__(self, rank: int, size: int) -> None:
        if not 0 <= rank < size:
            raise TransportError(f"A dry run needs a rank 0..{size - 1}, not {rank}.")
        require_memory(8 * size, f"A dry run as one of {size} ranks")
        self.rank = rank
        self.size = size
        self.arrivals: Callable[[Array], Array] | None = None
        """``arrivals(records)`` returns the records received in the exchange that sends `records`,
        of the same dtype. None: no records are received.
        """
        self.messages = self.volume = 0
        self.bytes_sent = 0
        self.making: float = 0.0
        """Seconds of this process for inventing arrivals; a real rank would not spend this time."""
        self.records_sent = np.zeros(size, np.int64)

    def exchange(
        self,
        records: Array,
        counts: Ints,
        word: int = 0,
        room: Room | None = None,
    ) -> Received:
        """Count the records that would leave; return the records invented by `arrivals`."""
        self.bytes_sent += records.nbytes
        self.records_sent += counts
        # A formula gives a meeting's messages: the rounds do not depend on the data.
        self.messages += rounds(self.size) + int(np.count_nonzero(counts))
        self.volume += volume(self.rank, counts) + records.nbytes
        # A real rank would not spend the time for inventing arrivals. Predictions subtract this
        # time.
        began = time.process_time()
        received = records[:0] if self.arrivals is None else self.arrivals(records)
        self.making += time.process_time() - began
        return Received(received, np.zeros(self.size, np.int64), word)

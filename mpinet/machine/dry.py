"""A rank without its machine: what it would send is counted, what it receives is made up."""

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
    """Plays rank r of R on one process: counts what would be sent, receives what it is given.

    Parameters
    ----------
    rank, size : int
        The rank to play, and of how many.
    """

    def __init__(self, rank: int, size: int) -> None:
        if not 0 <= rank < size:
            raise TransportError(f"A dry run plays a rank 0..{size - 1}, not {rank}.")
        require_memory(8 * size, f"A dry run as one of {size} ranks")
        self.rank = rank
        self.size = size
        self.arrivals: Callable[[Array], Array] | None = None
        """``arrivals(records)``: what comes in the exchange in which these records leave, of their
        dtype. None: nothing."""
        self.messages = self.volume = 0
        self.bytes_sent = 0
        self.making: float = 0.0
        """Seconds of this process for making arrivals up, which a rank among others does not
        need."""
        self.records_sent = np.zeros(size, np.int64)

    def exchange(
        self,
        records: Array,
        counts: Ints,
        word: int = 0,
        room: Room | None = None,
    ) -> Received:
        """Count the records that would leave; return those that were given to be received."""
        self.bytes_sent += records.nbytes
        self.records_sent += counts
        # What a meeting would send is a formula: the rounds do not depend on the data.
        self.messages += rounds(self.size) + int(np.count_nonzero(counts))
        self.volume += volume(self.rank, counts) + records.nbytes
        # Made-up arrivals cost this process time that a real rank would not spend. Predictions
        # subtract it.
        began = time.process_time()
        received = records[:0] if self.arrivals is None else self.arrivals(records)
        self.making += time.process_time() - began
        return Received(received, np.zeros(self.size, np.int64), word)

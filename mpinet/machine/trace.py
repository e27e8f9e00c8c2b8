"""Step traces: who sent what to whom, in which step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mpinet.arrays import Ints

RECORD = np.dtype(
    [
        ("step", np.int64),
        ("sender", np.int64),
        ("port", np.int64),
        ("receiver", np.int64),
        ("message", np.int64),
    ]
)
"""One message over one channel; message = its number, -1 where a program's message has none."""


@dataclass
class Trace:
    """The movements of messages that left this rank's processors.

    Attributes
    ----------
    parts : list of ndarray of RECORD
        The records in the order of the steps.
    """

    parts: list[NDArray[np.void]] = field(default_factory=list)

    def add(
        self,
        step: int,
        senders: Ints,
        ports: Ints,
        receivers: Ints,
        messages: Ints | int = -1,
    ) -> None:
        """Record one step's movements."""
        part = np.empty(len(senders), RECORD)
        part["step"] = step
        part["sender"] = senders
        part["port"] = ports
        part["receiver"] = receivers
        part["message"] = messages
        self.parts.append(part)

    @property
    def records(self) -> NDArray[np.void]:
        """All records of this rank, by step, then sender, then port."""
        records = np.concatenate(self.parts) if self.parts else np.empty(0, RECORD)
        return records[np.lexsort((records["port"], records["sender"], records["step"]))]

"""Exits: the output of processors, their ends, and their unreceived messages."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from hashlib import sha256
from itertools import chain
from operator import itemgetter
from typing import TextIO

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import OutputError, ProgramError, Unread
from mpinet.machine import Machine
from mpinet.mpi.world.failure import described, named, status_of
from mpinet.mpi.world.message import Message
from mpinet.mpi.world.processor import Processor, number_of
from mpinet.process.telling import gathered

Line = tuple[int, bool, str]
"""A printed line: processor number, whether it goes to standard error, and the text."""


class Exits:
    """This rank's share of the output and of the ends of processors.

    Parameters
    ----------
    machine : Machine
        The machine.
    out : text file
        File to which rank 0 writes the processors' output.
    """

    told: dict[int, str] | None = None
    """On rank 0: collects each processor's standard output; None if not collected."""

    def __init__(self, machine: Machine, out: TextIO):
        self.unreceived: Ints = np.zeros(len(machine.nodes), np.int64)
        """Unreceived messages of processors that have ended, by slot. Shape (hosted,)."""
        self._machine = machine
        self._out = out
        self._errors = sys.stderr
        self._written = sha256()
        self._printed: list[Line] = []
        self._begun: dict[int, str] = {}
        self._failed: tuple[int, str, int] | None = None

    @property
    def unsettled(self) -> int:
        """Number of lines and failures of this rank that `settle` still has to handle."""
        return len(self._printed) + (self._failed is not None)

    @property
    def output(self) -> str:
        """SHA-256 of the text written to standard output, valid on rank 0."""
        return self._written.hexdigest()

    def print(self, processor: Processor, error: bool, text: str) -> None:
        """Queue a processor's text, to be printed when the round ends.

        Standard output is printed in whole lines, as other processors may print in between.
        """
        number = number_of(processor)
        if not error:
            text = self._begun.pop(number, "") + text
            whole = text.rfind("\n") + 1
            if whole < len(text):
                self._begun[number], text = text[whole:], text[:whole]
        if text:
            self._printed.append((number, error, text))

    def flush(self, number: int) -> None:
        """Queue the begun line of a processor's standard output."""
        if number in self._begun:
            self._printed.append((number, False, self._begun.pop(number)))

    def warn(self, text: str) -> None:
        """Write a text to standard error at once, on rank 0 only."""
        if self._machine.transport.rank == 0:
            self._errors.write(_encodable(text, self._errors))
            self._errors.flush()

    def end(self, processor: Processor) -> None:
        """Count the unreceived messages of a processor at its end, and print its last line."""
        self.flush(number_of(processor))
        if processor.unexpected is not None:
            self.unreceived[processor.slot] += len(processor.unexpected)

    def count_unreceived(self, slot: int, message: Message) -> None:
        """Count a message that arrived at a processor after its end."""
        self.unreceived[slot] += 1

    def fail(self, processor: Processor, error: BaseException, step: int) -> None:
        """Record a processor's failure; the lowest processor's failure in a round counts.

        Raises
        ------
        KeyboardInterrupt
            The user interrupts the run. This is not a failure of the processor.
        """
        if isinstance(error, KeyboardInterrupt):
            raise error
        if isinstance(error, SystemExit) and error.code in (None, 0):
            return
        number = number_of(processor)
        # The order in which failures occur depends on the hosting. The lowest processor number does
        # not.
        if self._failed is None or number < self._failed[0]:
            name = named(self._machine.topology, number)
            told = f"Processor {name}, after step {step}, {described(error)}"
            self._failed = number, told, status_of(error)

    def settle(self, ends: bool = False) -> None:
        """Print the queued lines by processor, and end the run after a failure (collective).

        Parameters
        ----------
        ends : bool
            Whether the run ends in any case, so begun lines are printed.

        Raises
        ------
        ProgramError
            A processor's script has failed.
        Unread
            The reader of the output has closed the pipe.
        OutputError
            The output cannot be written.
        """
        transport = self._machine.transport
        printed, self._printed = self._printed, []
        begun = [(number, False, text) for number, text in self._begun.items()]
        shares = gathered(transport, (printed, begun, self._failed is not None))
        together = list(chain.from_iterable(queued for queued, _, _ in shares))
        if ends or any(has_failed for _, _, has_failed in shares):
            together += chain.from_iterable(rest for _, rest, _ in shares)
        try:
            # The sort is stable: lines of one processor keep their order, and lines of a round are
            # grouped by processor.
            self._write(sorted(together, key=itemgetter(0)))
        except BrokenPipeError:
            transport.fail(Unread())
        except OSError as error:
            reason = error.strerror
            transport.fail(OutputError(f"Cannot write the processors' output: {reason}."))
        none = self._machine.topology.size
        own = none if self._failed is None else self._failed[0]
        lowest = -self._machine.max(-own)[0]
        if lowest == none:
            return
        if self._failed and lowest == own:
            transport.fail(ProgramError(*self._failed[1:]))
        # The failing rank raises inside its own collective, which the other ranks must enter.
        self._machine.sum(0)

    def _write(self, lines: Iterable[Line]) -> None:
        """Write the printed lines, on rank 0."""
        for processor, error, text in lines:
            if error:
                self._errors.write(_encodable(text, self._errors))
            else:
                self._out.write(_encodable(text, self._out))
                self._written.update(text.encode(errors="surrogatepass"))
                if self.told is not None:
                    self.told[processor] = self.told.get(processor, "") + text
        self._out.flush()
        self._errors.flush()


def _encodable(text: str, file: TextIO) -> str:
    """Escape the characters of a text that the file's encoding cannot represent."""
    encoding = file.encoding or "utf-8"
    return text.encode(encoding, errors="backslashreplace").decode(encoding)

"""Exits: what processors print, how they end, and what they leave unreceived."""

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
from mpinet.mpi.world.processor import Processor, number_of
from mpinet.process.telling import gathered

Line = tuple[int, bool, str]
"""Line that is printed: by whom, whether to the standard error, and the text."""


class Exits:
    """This rank's share of what comes out.

    Parameters
    ----------
    machine : Machine
        The machine.
    out : text file
        Where rank 0 writes what processors print.
    """

    told: dict[int, str] | None = None
    """Gets what each processor has printed to the standard output, on rank 0."""

    def __init__(self, machine: Machine, out: TextIO):
        self.unreceived: Ints = np.zeros(len(machine.nodes), np.int64)
        """Unreceived messages of processors that have ended, by slot. Shape (hosted,)."""
        self._machine = machine
        self._out = out
        self._errors = sys.stderr
        self._written = sha256()
        self._printed: list[Line] = []
        self._failed: tuple[int, str, int] | None = None

    @property
    def unsettled(self) -> int:
        """Lines and failures of this rank that `settle` is to deal with."""
        return len(self._printed) + (self._failed is not None)

    @property
    def output(self) -> str:
        """The SHA-256 of what has been written to the standard output; on rank 0."""
        return self._written.hexdigest()

    def print(self, processor: Processor, error: bool, text: str) -> None:
        """Print a processor's text when the round is over."""
        self._printed.append((number_of(processor), error, text))

    def warn(self, text: str) -> None:
        """Write a text to the standard error at once, on rank 0."""
        if self._machine.transport.rank == 0:
            self._errors.write(_encodable(text, self._errors))
            self._errors.flush()

    def end(self, processor: Processor) -> None:
        """Count what an ended processor has not received."""
        if processor.unexpected is not None:
            self.unreceived[processor.slot] += len(processor.unexpected)

    def count_unreceived(self, slot: int) -> None:
        """Count a message that has come to a processor which has ended."""
        self.unreceived[slot] += 1

    def fail(self, processor: Processor, error: BaseException, step: int) -> None:
        """Record a processor's failure; of several in one round the lowest processor's counts.

        Raises
        ------
        KeyboardInterrupt
            It is no failure of the processor's: somebody wants to stop the run.
        """
        if isinstance(error, KeyboardInterrupt):
            raise error
        if isinstance(error, SystemExit) and error.code in (None, 0):
            return
        number = number_of(processor)
        # Which of several failures is met first depends on the hosting. The lowest processor's does
        # not.
        if self._failed is None or number < self._failed[0]:
            name = named(self._machine.topology, number)
            told = f"Processor {name}, after step {step}, {described(error)}"
            self._failed = number, told, status_of(error)

    def settle(self) -> None:
        """Print what was printed, by processor, and end the run if one has failed (collective).

        Raises
        ------
        ProgramError
            A processor's script has failed.
        Unread
            Nobody reads what processors print.
        OutputError
            It cannot be written.
        """
        transport = self._machine.transport
        printed, self._printed = self._printed, []
        together = chain.from_iterable(gathered(transport, printed))
        try:
            # Stable: lines of a processor stay in their order, and those of one round stand by
            # processor.
            self._write(sorted(together, key=itemgetter(0)))
        except BrokenPipeError:
            transport.fail(Unread())
        except OSError as error:
            reason = error.strerror
            transport.fail(OutputError(f"Cannot write what the processors print: {reason}."))
        none = self._machine.topology.size
        own = none if self._failed is None else self._failed[0]
        lowest = -self._machine.max(-own)[0]
        if lowest == none:
            return
        if self._failed and lowest == own:
            transport.fail(ProgramError(*self._failed[1:]))
        # The failing rank raises within its own collective, which has to be met by the others.
        self._machine.sum(0)

    def _write(self, lines: Iterable[Line]) -> None:
        """Write what processors have printed, on rank 0."""
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
    """A text with escapes for what the file's encoding does not know."""
    encoding = file.encoding or "utf-8"
    return text.encode(encoding, errors="backslashreplace").decode(encoding)

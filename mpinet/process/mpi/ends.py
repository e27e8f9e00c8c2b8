"""What comes out of processors: what they print, how they end, what they leave unreceived."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import numpy as np

from mpinet.errors import ProgramError
from mpinet.machine import Machine
from mpinet.process.mpi.processor import Processor
from mpinet.process.values import from_bytes, to_bytes

if TYPE_CHECKING:
    from mpinet.process.mpi.world import World


class Ends:
    """This rank's share of what comes out.

    Parameters
    ----------
    machine : Machine
        The machine.
    out : text file
        Where rank 0 writes what processors print.

    Attributes
    ----------
    unreceived : ndarray of int64, shape (hosted,)
        Messages that processors have ended without, by slot.
    """

    def __init__(self, machine: Machine, out: TextIO):
        self.unreceived = np.zeros(len(machine.nodes), np.int64)
        self._machine = machine
        self._out = out
        self._errors = sys.stderr
        self._printed: list[tuple[int, bool, str]] = []
        self._failed: tuple[int, str] | None = None

    @property
    def news(self) -> int:
        """How much there is to settle on this rank."""
        return len(self._printed) + (self._failed is not None)

    def say(self, processor: Processor, error: bool, text: str) -> None:
        """Print what a processor prints when the round is over."""
        self._printed.append((processor.id, error, text))

    def leave(self, processor: Processor) -> None:
        """Count what an ended processor has not received."""
        if processor.unexpected is not None:
            slot = self._machine.slots(np.array([processor.id]))[0]
            self.unreceived[slot] += len(processor.unexpected)

    def leave_out(self, slot: int) -> None:
        """Count a message that has come to a processor which has ended."""
        self.unreceived[slot] += 1

    def fail(self, processor: Processor, error: BaseException, step: int) -> None:
        """Note that a processor has failed; of several in one round the lowest counts."""
        if isinstance(error, SystemExit) and error.code in (None, 0):
            return
        if self._failed is None or processor.id < self._failed[0]:
            self._failed = (
                processor.id,
                f"Processor {processor.id}, after step {step}: {_told(error)}",
            )

    def settle(self) -> None:
        """Print what was printed, by processor, and end the run if one has failed (collective).

        Raises
        ------
        ProgramError
            A processor's script has failed.
        """
        transport = self._machine.transport
        printed, self._printed = self._printed, []
        together: list[tuple[int, bool, str]] = []
        for share in transport.gather(to_bytes(printed)):
            together += from_bytes(share)
        for _, error, text in sorted(together, key=lambda one: one[0]):
            (self._errors if error else self._out).write(text)
        none = self._machine.topology.size
        own = none if self._failed is None else self._failed[0]
        lowest = -self._machine.max(-own)[0]
        if lowest == none:
            return
        if self._failed and lowest == own:
            transport.fail(ProgramError(self._failed[1]))
        self._machine.sum(0)


def _told(error: BaseException) -> str:
    """An error as its processor's person reads it: the traceback within the script."""
    if isinstance(error, SystemExit):
        return f"the script ends with {error.code!r}."
    within = error.__traceback__
    lines = traceback.format_exception(error.with_traceback(within))
    return "".join(lines).rstrip()


class Printing:
    """A stream on which processors print.

    Parameters
    ----------
    world : World
        Knows who prints.
    error : bool
        Whether it is the standard error.
    """

    encoding = "utf-8"

    def __init__(self, world: World, error: bool):
        self._world = world
        self._error = error

    def write(self, text: str) -> int:
        """Print when the round is over."""
        self._world.ends.say(self._world.current, self._error, text)
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        """Print lines."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Nothing waits here."""

    def isatty(self) -> bool:
        """Processors have no terminal."""
        return False

    def fileno(self) -> int:
        """The file below, for those who need one."""
        return 2 if self._error else 1


@contextmanager
def printing(world: World) -> Iterator[None]:
    """Within it, what is printed is what processors print."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Printing(world, False), Printing(world, True)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams

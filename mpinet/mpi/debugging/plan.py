"""The plan of a debugged run: where it stops, and the typed lines, which repeat it up to a stop."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TextIO

from mpinet.base.launched import is_launched
from mpinet.mpi.world.replacing import replaced

OWN_INPUT, OWN_OUTPUT = sys.__stdin__, sys.__stdout__
"""Streams of the process itself; scripts have other streams of the same names during a run."""

Ask = Callable[[str, TextIO], str | None]
"""Shows a text, whose last line is a prompt, and returns the typed line; empty after Ctrl-D, None
if the input has ended."""


class Goal(NamedTuple):
    """Point of a run at which a processor stops."""

    processor: int | None = None
    """The processor's rank; None for the debugged one."""
    step: int = 0
    """The step, if no line is given."""
    file: str = ""
    """File of the line; empty without a line."""
    line: int = 0
    """The line."""

    def __str__(self) -> str:
        return f"line {self.line} of {self.file}" if self.file else f"step {self.step}"


class TypedLine(NamedTuple):
    """A line typed into the debugger."""

    processor: int
    """The processor that has got the line."""
    step: int
    """Steps before the line was typed."""
    text: str
    """The line."""


class Repeat(Exception):
    """The run is to be repeated up to an earlier stop; raised on all ranks."""


END = "\x04\n"
"""Line with which `launching/run.sh` marks the end of its input."""

DIVERGED = "*** The repeated run differs: the script is not deterministic.\n"


def ask_console(text: str, out: TextIO) -> str | None:
    """Show a text on an output stream, and read a line from the process's standard input."""
    shown, _, prompt = text.rpartition("\n")
    if shown:
        out.write(f"{shown}\n")
    typing = OWN_INPUT
    if typing is not None and typing.isatty() and out.isatty() and OWN_OUTPUT is not None:
        out.flush()
        # `input` offers the editing of a line, but only on the process's own streams.
        with replaced((sys, "stdin", typing), (sys, "stdout", OWN_OUTPUT)):
            try:
                return input(prompt) + "\n"
            except EOFError:
                return ""
    # Launchers pass on complete lines only. A terminal in front of a launcher shows typed lines.
    front = os.environ.get("MPINET_TYPED", "")
    shows = front == "pipe" or not is_launched()
    out.write(prompt if shows else f"{prompt.rstrip()}\n")
    out.flush()
    # `mpinet launch` passes on its input only if an option requests the debugger.
    is_open = bool(front) or "MPINET_RUN" not in os.environ
    line = "" if typing is None or typing.closed or not is_open else typing.readline()
    if line == END:
        return "" if front == "terminal" else None
    if shows:
        out.write(line if line.endswith("\n") else f"{line}\n")
    out.flush()
    return line or None


@dataclass
class DebugPlan:
    """Stops of a run, and the typed lines, which only rank 0 keeps."""

    processor: int | None = None
    """Rank of the only debugged processor; None: all processors with breakpoints."""
    goal: Goal | None = None
    """First stop; None: the first line of `processor`."""
    again: Goal | None = None
    """Stop of a repeated run at a step."""
    stops_at_failures: bool = False
    """True if failed processors and deadlocks stop in the debugger."""
    ask: Ask = ask_console
    hush: Callable[[], None] | None = None
    """Hides other output on the terminal before a prompt."""
    quit: Callable[[], None] | None = None
    """Ends the run for the command ``quit``; None: the processor fails."""
    repeats: bool = True
    """True if the run can be repeated."""
    is_repeating: bool = False
    """True until a repeated run has reached its stop."""
    lines: list[TypedLine] = field(default_factory=list)
    """Lines typed so far."""
    known: list[TypedLine] = field(default_factory=list)
    """Lines of the earlier run that are still to be repeated."""
    expected: tuple[int, int] | None = None
    """Processor and step of the stop that a repeated run has to reach, if known."""
    stops: list[int] = field(default_factory=list)
    """Number of lines typed before each stop."""

    def line(
        self, processor: int, step: int, text: str, first: bool, show: Callable[[], TextIO]
    ) -> str | None:
        """Return the next line for a processor, on rank 0; None if the input has ended.

        Parameters
        ----------
        processor, step : int
            The processor that asks, and the steps so far.
        text : str
            Text to show, with the prompt as its last line.
        first : bool
            Whether this is the first line of a stop.
        show : callable
            Returns the stream for the text, and makes the script's output visible again.
        """
        if first:
            self.stops.append(len(self.lines))
        if self.known:
            known = self.known.pop(0)
            if known[:2] == (processor, step):
                self.lines.append(known)
                return known.text
            self.known.clear()
            self.expected = -1, -1
        if self.is_repeating and self.expected not in (None, (processor, step)):
            text = DIVERGED + text
        self.is_repeating = False
        if self.hush is not None:
            self.hush()
        line = self.ask(text, show())
        if line is not None:
            self.lines.append(TypedLine(processor, step, line))
        return line

    def back(self, step: int | None, processor: int) -> str:
        """Plan a repetition up to the previous stop, or up to a step; return a reason against it.

        Parameters
        ----------
        step : int or None
            The step; None for the previous stop.
        processor : int
            The processor that stops at the step.
        """
        if not self.repeats:
            return "back repeats runs of mpinet exec only"
        if step is not None:
            self.known = [line for line in self.lines if line.step < step]
            self.again = Goal(processor, step) if step else None
            self.expected = None
        elif len(self.stops) > 1:
            self.known = self.lines[: self.stops[-2]]
            self.expected = self.lines[self.stops[-2]][:2]
        else:
            return "this is the first stop; back STEP repeats the run up to a step"
        self.is_repeating = True
        self.lines, self.stops = [], []
        return ""

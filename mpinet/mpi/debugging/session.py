"""A session of Python's debugger on one processor."""

from __future__ import annotations

import code
import os
import sys
from bdb import Breakpoint
from contextlib import redirect_stderr, redirect_stdout
from pdb import Pdb
from types import FrameType, TracebackType
from typing import Any, ClassVar

from mpinet.mpi.world.callgroups import RUNNERS
from mpinet.mpi.world.failure import OWN, is_own, module_of

SKIPPED = [pattern for package in sorted(OWN | RUNNERS) for pattern in (package, f"{package}.*")]
"""Modules that ``step`` does not enter."""


class Dialog:
    """The text streams of a session: prompts go to rank 0, and lines come from there.

    Parameters
    ----------
    debugger : Debugger
        The debugger.
    """

    encoding = "utf-8"

    def __init__(self, debugger: Any):
        self._debugger = debugger
        self._texts: list[str] = []
        self.is_first: bool = False
        """True before the first line of a stop."""

    def write(self, text: str) -> int:
        """Add a text to the next prompt."""
        self._texts.append(text)
        return len(text)

    def flush(self) -> None:
        """Do nothing, because the next prompt shows all texts."""

    def taken(self) -> str:
        """Return the texts that have not been shown."""
        text = "".join(self._texts)
        self._texts.clear()
        return text

    def readline(self) -> str:
        """Show the texts, and return the next line."""
        first, self.is_first = self.is_first, False
        return str(self._debugger.ask("line", self.taken(), first))


class Session(Pdb):
    """The debugger of a processor.

    Parameters
    ----------
    debugger : Debugger
        The debugger of the rank.
    number : int
        The processor.
    """

    commands_resuming: ClassVar = [*Pdb.commands_resuming, "do_next_message", "do_back", "do_quit"]

    def __init__(self, debugger: Any, number: int):
        # Breakpoints are numbered in tables of the class. Each session has its own tables.
        Breakpoint.clearBreakpoints()
        self._tables: tuple[Any, ...] = ()
        self._debugger, self._number = debugger, number
        self._dialog: Any = Dialog(debugger)
        self._is_traced = False
        self._goal = ""
        streams: dict[str, Any] = {"stdin": self._dialog, "stdout": self._dialog}
        super().__init__(**streams, skip=SKIPPED, nosigint=True)
        self.prompt = f"(Pdb {number}) "

    def _load_breaks(self) -> None:
        """Take over no breakpoints of other sessions."""

    # ---- turns

    def leave(self, is_main: bool, shared: Any) -> None:
        """Take the trace function and the breakpoints away while other processors run."""
        self._tables = Breakpoint.next, Breakpoint.bplist, Breakpoint.bpbynumber
        if text := self._dialog.taken():
            self._debugger.print(text)
        if is_main:
            self._is_traced = sys.gettrace() == self.trace_dispatch
            sys.settrace(shared)

    def enter(self, is_main: bool) -> None:
        """Put the trace function and the breakpoints in place again."""
        if self._tables:
            Breakpoint.next, Breakpoint.bplist, Breakpoint.bpbynumber = self._tables
        if is_main and self._is_traced:
            sys.settrace(self.trace_dispatch)

    # ---- stops

    def stop_first(self) -> None:
        """Stop at the first line of the function called next."""
        self.reset()
        sys.settrace(self.trace_dispatch)

    def stop_at(self, file: str, line: int) -> None:
        """Stop once at a line of a file."""
        self.reset()
        self.set_break(file, line, temporary=True)
        self._goal = str(Breakpoint.next - 1)
        self.botframe = sys._getframe(1)
        self.set_continue()
        sys.settrace(self.trace_dispatch)

    def visit(self, frame: FrameType | None, trace: TracebackType | None, text: str) -> None:
        """Stop in a frame that does not run, or at a traceback, after a text."""
        self.message(text)
        self.reset()
        last = frame
        while last is not None:
            if not _is_between(last):
                last.f_trace = self.trace_dispatch
            last, self.botframe = last.f_back, last
        self.interaction(frame, trace)
        # The frames continue later, in the turn of their own processor.
        goes_on = self.stopframe is self.botframe and self.stoplineno == -1
        self._is_traced = frame is not None and (not goes_on or bool(self.breaks))

    def dispatch_call(self, frame: FrameType, arg: None) -> Any:
        """Trace no function that the emulator calls while the user steps."""
        is_inner = frame.f_back is not None and is_own(frame.f_back)
        if is_inner and frame.f_code.co_name != "<module>" and not self.break_anywhere(frame):
            return None
        return super().dispatch_call(frame, arg)

    def interaction(self, frame: FrameType | None, traceback: Any) -> None:
        """Read and execute commands at a stop."""
        self._debugger.reached(self._number)
        self._dialog.is_first = True
        super().interaction(frame, traceback)

    def get_stack(self, f: Any, t: Any) -> tuple[list[tuple[FrameType, int]], int]:
        """Return the frames of the script, and the index of the current one."""
        whole, index = super().get_stack(f, t)
        stack = [one for one in whole if not _is_between(one[0])]
        index -= sum(_is_between(frame) for frame, _ in whole[: index + 1])
        return (stack, max(0, index)) if stack else (whole, len(whole) - 1)

    def format_stack_entry(self, *words: Any) -> str:
        """Return the text of a line, with its path relative to the current folder."""
        return super().format_stack_entry(*words).replace(f"{os.getcwd()}{os.sep}", "", 1)

    # ---- commands

    def precmd(self, line: str) -> str:
        """Accept the hyphen of ``next-message``."""
        return str(super().precmd(line.replace("next-message", "next_message", 1)))

    def do_where(self, arg: str) -> None:
        """List all processors, grouped by call, line and functions on the stack.

        ``w`` and ``bt`` print the stack of this processor.
        """
        self._dialog.write(self._debugger.ask("where", arg))

    do_w = do_bt = Pdb.do_where

    def do_inflight(self, arg: str) -> None:
        """List the messages that are sent and not received, with the sender's line."""
        self._dialog.write(self._debugger.ask("inflight", arg))

    def do_queues(self, arg: str) -> None:
        """List posted receives and unexpected messages: ``queues [processor]``."""
        if self._is_number(arg):
            self._dialog.write(self._debugger.ask("queues", arg))

    def do_next_message(self, arg: str) -> int:
        """Continue until the next message arrives at this processor: ``next-message``."""
        self._debugger.awaiting.add(self._number)
        self.set_continue()
        return 1

    def do_back(self, arg: str) -> None:
        """Run the script again up to the previous stop, or up to a step: ``back [step]``."""
        if self._is_number(arg):
            self._dialog.write(self._debugger.ask("back", arg))

    def do_restart(self, arg: str) -> None:
        """Run the script again from its beginning, as ``back 0``."""
        self.do_back("0")

    do_run = do_restart

    def do_quit(self, arg: str) -> None:
        """End the run: ``q(uit)``."""
        assert self.curframe is not None
        self._debugger.leave_run(self.curframe)

    do_q = do_exit = do_EOF = do_quit  # noqa: N815

    def do_interact(self, arg: str) -> None:
        """Start an interpreter with the names of the current frame; Ctrl-D ends it."""
        assert self.curframe is not None
        names = {**self.curframe.f_globals, **self.curframe.f_locals}
        with redirect_stdout(self._dialog), redirect_stderr(self._dialog):
            code.interact("*interactive*", self._typed, names, "")

    def _typed(self, prompt: str) -> str:
        """Return a line for an interactive interpreter."""
        self._dialog.write(prompt)
        line = self._dialog.readline()
        if not line:
            raise EOFError
        return str(line).rstrip("\n")

    def do_clear(self, arg: str) -> None:
        """Clear breakpoints: ``cl(ear) [number ..]``."""
        if arg and arg == self._goal:  # the first stop, which the user has not set
            self.clear_bpbynumber(int(arg))
        else:
            super().do_clear(arg)

    do_cl = do_clear

    def _is_number(self, arg: str) -> bool:
        """Return whether an argument is missing or a number; report anything else."""
        is_right = arg == "" or (arg.isascii() and arg.isdigit())
        if not is_right:
            self.error(f"{arg} is not a number")
        return is_right


def _is_between(frame: FrameType) -> bool:
    """Return whether a frame belongs to the emulator, to the debugger or to a run of tests."""
    return is_own(frame) or module_of(frame) in RUNNERS

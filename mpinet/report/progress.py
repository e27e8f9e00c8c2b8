"""Progress of long work: a bar in a terminal or a notebook, plain lines under a launcher."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any

from mpinet.report.cell import BLINK, NotebookCell

PATIENCE = 2.0
"""Seconds before the first display, and the initial time between plain lines, which grows."""


class Progress:
    """Progress display of long work: a context manager with an inexpensive method `update`.

    Parameters
    ----------
    what : str
        Counted unit, such as ``"steps"``.
    wanted : bool, None, "json" or "notebook"
        Whether to show progress. None: in a terminal or under a launcher; "json": one JSON object
        per line, for programs; "notebook": below the running cell of a notebook.
    launched : bool
        True if a launcher started the process, so standard error is no terminal.
    """

    def __init__(self, what: str, wanted: bool | str | None, launched: bool):
        terminal = not launched and _is_terminal()
        self._wanted = wanted
        self._shown = (terminal or launched) if wanted is None else bool(wanted)
        self._what, self._json = what, wanted == "json"
        self._cell = NotebookCell() if wanted == "notebook" else None
        in_terminal = self._shown and terminal and not self._json and self._cell is None
        self._bar: Any = _rich_bar(what) if in_terminal else None
        self.command = ""
        self.facts: Callable[[], dict[str, Any]] = dict
        self.slow: Callable[[], str] = str
        self._last: tuple[int, int | None, float] | None = None
        self._step: int | None = None
        self._doing = ""
        self._began = self._said = time.monotonic()
        self._pause = PATIENCE

    # Programs read these names, which docs/contract.md, 2, promises to keep.
    def _object(self, done: int, total: int | None, now: float) -> dict[str, Any]:
        """Return the progress as a JSON object; seconds are rounded to hundredths."""
        seconds = now - self._began
        left = seconds * (total - done) / done if total is not None and done else None
        return {
            "command": self.command,
            "unit": self._what,
            "done": done,
            "total": total,
            "seconds": round(seconds, 2),
            "rate": round(done / seconds, 2) if seconds > 0 else None,
            "left": None if left is None else round(left, 2),
            "step": self._step,
            "moving": None,
            "checkpoint": None,
            **self.facts(),
        }

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._json and self._last is not None:
            _print(json.dumps(self._object(*self._last)))
        # A finished notebook is published as it is: its pages would show seconds of one machine.
        if self._cell is not None and self._cell.is_used and kind is None:
            self._cell.show("")

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Exclude the compiler, which runs in this context, from the time of steps."""
        began = time.monotonic()
        try:
            yield
        finally:
            seconds = time.monotonic() - began
            # Otherwise compilation counts as slow steps, and the estimated remaining time is far
            # too long.
            self._began += seconds
            self._said += seconds

    def tell_wait(self, text: str) -> None:
        """Show a line about the compiler, even if no other progress is shown."""
        if self._shown:
            self.say(text)
        elif self._wanted is not False:
            _print(f"mpinet: {text}")

    def say(self, text: str) -> None:
        """Show a permanent line."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        elif self._cell is not None:
            self._cell.note(text)
        elif self._json:
            _print(json.dumps({"command": self.command, "note": text}))
        elif self._shown:
            _print(text)

    def hide(self) -> None:
        """Show no progress from now on."""
        if self._bar is not None:
            self._bar.stop()
        self._shown = False

    def update(
        self, done: int, total: int | None = None, step: int | None = None, doing: str = ""
    ) -> None:
        """Show that `done` of `total` units are done; `total` is None if unknown.

        `step` is the current step within the next unit, and `doing` is the name of that unit.
        """
        if not self._shown:
            return
        self._step, self._doing = step, doing
        if self._bar is not None:
            next_ = doing if step is None else f"at step {step} of the next"
            what = f"{self._what} ({next_})" if next_ else self._what
            self._bar.update(self._bar.task_ids[0], completed=done, total=total, description=what)
            return
        now = time.monotonic()
        if self._cell is not None:
            if now - self._began >= PATIENCE and now - self._said >= BLINK:
                self._said = now
                self._cell.show(self._line(done, total, now), done / total if total else None)
        elif self._json:
            self._last = done, total, now
            if now - self._said >= PATIENCE:
                self._said, self._last = now, None
                self._say_slow()
                _print(json.dumps(self._object(done, total, now)))
        elif now - self._said >= self._pause:
            self._said, self._pause = now, min(60.0, 1.5 * self._pause)
            self._say_slow()
            _print(self._line(done, total, now))

    def _line(self, done: int, total: int | None, now: float) -> str:
        """Return the progress as a readable line."""
        state = self._state(done, total, now - self._began)
        return "; ".join([f"{self._what} {state}", *self._more()])

    def _say_slow(self) -> None:
        """Show the slow ranks that other ranks wait for, if there are any."""
        if sentence := self.slow():
            self.say(sentence)

    def _more(self) -> list[str]:
        """Return facts for the readable line: step, moving messages, age of the checkpoint."""
        facts = self.facts()
        moving, checkpoint = facts.get("moving"), facts.get("checkpoint")
        told = [] if self._step is None else [f"at step {self._step} of the next"]
        told += [self._doing] if self._doing else []
        told += [] if moving is None else [f"{moving} messages moving"]
        if checkpoint is not None:
            told.append(f"checkpoint at step {checkpoint['step']}, {checkpoint['ago']:.0f} s ago")
        return told

    @staticmethod
    def _state(done: int, total: int | None, seconds: float) -> str:
        """Return the progress and the estimated remaining seconds."""
        if total is None:
            return f"{done} after {seconds:.0f} s"
        if not done:
            return f"0 of {total} after {seconds:.0f} s"
        left = seconds * (total - done) / done
        return f"{done} of {total} after {seconds:.0f} s, {left:.0f} s left"


def _print(line: str) -> None:
    """Print a line and ignore errors: missing output of progress must not stop a run."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def _is_terminal() -> bool:
    """Return whether standard error is a real terminal (some launchers simulate one)."""
    try:
        return bool(sys.stderr) and sys.stderr.isatty() and os.get_terminal_size(2).columns > 0
    except OSError:
        return False


def _rich_bar(what: str) -> Any:
    """Make a progress bar of the library rich; None if rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TimeElapsedColumn, TimeRemainingColumn
    except ImportError:
        return None
    columns = (BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    count = "{task.description} {task.completed}"
    bar = Progress(count, *columns, console=Console(stderr=True), transient=True)
    bar.add_task(what, total=None)
    return bar

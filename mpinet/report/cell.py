"""Progress display of a notebook: a line and a bar below the cell, updated in place.

IPython's `display` with an id updates a shown output in every frontend.
"""

from __future__ import annotations

import sys
from contextvars import copy_context
from html import escape
from typing import Any

BLINK = 0.2
"""Minimum time between two updates, in seconds."""


def is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


class NotebookCell:
    """Output area below the running cell; empty until something is shown."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._context = copy_context()  # names the cell; fibers of scripts have no such context
        self._notes: list[str] = []

    @property
    def is_used(self) -> bool:
        """True if anything has been shown below the cell."""
        return self._handle is not None

    def note(self, text: str) -> None:
        """Show a permanent line."""
        self._notes.append(text)
        self.show("")

    def show(self, text: str, done: float | None = None) -> None:
        """Replace the shown progress.

        Parameters
        ----------
        text : str
            Description of the progress.
        done : float, optional
            Finished part of the work, 0..1. Default: no bar is shown.
        """
        self._context.run(self._show, text, done)

    def _show(self, text: str, done: float | None) -> None:
        from IPython.display import display

        lines = [line for line in (*self._notes, text) if line]
        bar = "" if done is None else f'<progress max="1" value="{done:.4f}"></progress> '
        rich = "<br>".join([*map(escape, self._notes), bar + escape(text)])
        shown = {"text/plain": "\n".join(lines), "text/html": f"<div>{rich}</div>"}
        if self._handle is None:
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

"""Progress in a notebook: a line and a bar below the cell, written anew in their place.

IPython brings what is needed: `display` with an id, whose frontends all know how to write it anew.
"""

from __future__ import annotations

import sys
from contextvars import copy_context
from html import escape
from typing import Any

BLINK = 0.2
"""Least seconds between two states that are shown."""


def is_notebook() -> bool:
    """Return whether a notebook's kernel runs this process."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


class NotebookCell:
    """A place below the cell that runs; nothing is there before something is shown."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._context = copy_context()  # it says which cell; a fiber of a script has none
        self._notes: list[str] = []

    @property
    def is_used(self) -> bool:
        """True if the cell shows anything."""
        return self._handle is not None

    def note(self, text: str) -> None:
        """Show a line that stays."""
        self._notes.append(text)
        self.show("")

    def show(self, text: str, done: float | None = None) -> None:
        """Show a state in place of the one before.

        Parameters
        ----------
        text : str
            How far the work is.
        done : float, optional
            As a part of the whole, 0..1; default: there is no bar.
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

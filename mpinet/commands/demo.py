"""``mpinet demo``: run four jobs on several ranks, and compare results with closed forms."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Options, Typed


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """Run four jobs with known results; the exit status is 1 if a result differs.

    Returns
    -------
    int
        no document: a table; the jobs' documents and ``demo.html`` in FOLDER (``--page none``: no
        page).

    Examples
    --------
    ``mpinet demo``

    ``mpinet demo -n 1``
    """

    command = "demo"
    ranks: Annotated[int | None, Typed(words=("-n",), metavar="R")] = None
    """Number of ranks; default: 4, or 1 without an MPI launcher."""
    results: Annotated[Path | None, Typed(metavar="FOLDER")] = None
    """Folder for the result documents."""
    page: Annotated[str | None, Typed(metavar="FILE")] = None
    """HTML page with two pictures if matplotlib is installed, and a third one if Numba is
    installed; default: demo.html, in the results folder if given; none: no page."""


demo = function_with(DemoOptions, int)

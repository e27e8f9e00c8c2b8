"""``mpinet demo``: four runs on several ranks, held against closed forms; pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Options, Typed


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """Run four jobs whose results are known by closed forms; 1 unless every one is as they say.

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
    """Ranks; default: 4, and 1 where there is no MPI launcher."""
    results: Annotated[Path | None, Typed(metavar="FOLDER")] = None
    """Folder for the result documents."""
    page: Annotated[str | None, Typed(metavar="FILE")] = None
    """Page with two pictures, where matplotlib is installed, and a third one, where Numba is too;
    default: demo.html, in the results folder if there is one; none: no page."""


demo = function_with(DemoOptions, int)

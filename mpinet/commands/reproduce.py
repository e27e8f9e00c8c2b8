"""``mpinet reproduce``: make the papers' tables and figures again, measured beside printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from mpinet.commands.fields import Fields
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Options, Saved, Shown, Typed
from mpinet.commands.result import ListResult


class ReproducedCell(Fields):
    """A cell of a paper's table, or a point of a series of its figure."""

    paper: str
    item: str
    title: str
    row: Annotated[str | float, "label of a cell; of a figure's point the place along the axis"]
    column: Annotated[str, "label of a cell; of a figure's point the series"]
    claim: Annotated[str, "a claim's id"]
    relation: str
    printed: Any
    measured: Any
    agrees: Annotated[bool, "whether the relation holds"]


class ReproduceResult(ListResult[ReproducedCell]):
    """Result of ``reproduce``."""


@dataclass(frozen=True)
class ReproduceOptions(Options):
    """Make the papers' tables and figures again, measured beside printed (collective).

    Examples
    --------
    ``mpinet reproduce sth figure-3 --out pictures``

    ``mpinet reproduce gmn table-1 --budget quick``
    """

    command = "reproduce"
    paper: Annotated[str, Typed(metavar="PAPER|all")]
    """Paper of the ledger (sth), or all of them."""
    items: Annotated[Sequence[str], Typed(metavar="table-N|figure-N")] = ()
    """Tables and figures of the paper, such as ``table-5`` and ``figure-3``; default: every one."""
    _: KW_ONLY
    folder: Annotated[Path | str | None, Typed(words=("--out",), metavar="FOLDER")] = None
    """Folder that gets each as text, as CSV and, of figures, as a picture, and a page on the paper:
    ``sth-figure-3.txt``, ``.csv``, ``.svg``, ``sth.html``."""
    pictures: Literal["svg", "pdf", "png"] = "svg"
    """Kind of the pictures, for which matplotlib has to be there."""
    budget: Literal["quick", "full"] = "full"
    """Points that are measured: all that the tables and figures have, or those that take little
    time."""


reproduce = function_with(ReproduceOptions, ReproduceResult, Saved, Shown)

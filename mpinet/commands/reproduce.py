"""``mpinet reproduce``: repeat the papers' tables and figures, with measured and printed values."""

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
    """Cell of a paper's table, or point of a series in a figure."""

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
    network: Annotated[str, "the measured point, such as topology=lst:2"]
    form: Annotated[str, "of printed decimals: rounded, truncated, or empty"]


class ReproduceResult(ListResult[ReproducedCell]):
    """Result of ``reproduce``."""


@dataclass(frozen=True)
class ReproduceOptions(Options):
    """Repeat the papers' tables and figures, with measured and printed values (collective).

    Examples
    --------
    ``mpinet reproduce sth figure-3 --out pictures``

    ``mpinet reproduce gmn table-1 --budget quick``
    """

    command = "reproduce"
    paper: Annotated[str, Typed(metavar="PAPER|all")]
    """Paper of the ledger (such as sth), or all papers."""
    items: Annotated[Sequence[str], Typed(metavar="table-N|figure-N")] = ()
    """Tables and figures of the paper, such as ``table-5`` and ``figure-3``; default: all."""
    _: KW_ONLY
    folder: Annotated[Path | str | None, Typed(words=("--out",), metavar="FOLDER")] = None
    """Folder for each item as text and CSV, for pictures of the figures, and for a page about the
    paper: ``sth-figure-3.txt``, ``.csv``, ``.svg``, ``sth.html``."""
    pictures: Literal["svg", "pdf", "png"] = "svg"
    """Format of the pictures, which need matplotlib."""
    budget: Literal["quick", "full"] = "full"
    """Points to measure: all points, or only quick ones."""


reproduce = function_with(ReproduceOptions, ReproduceResult, Saved, Shown)

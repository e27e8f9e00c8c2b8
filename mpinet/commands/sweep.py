"""``mpinet sweep``: many runs of a command, from a file that names the values of its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any

from mpinet.commands.fields import Count, Fields, Hash
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Options, Saved, Shown, Typed
from mpinet.commands.result import Result


class FailedPoint(Fields):
    """A point of a sweep, with the sentence on its failure."""

    point: str
    error: str


class SweepResult(Result):
    """Result of ``sweep``."""

    points: Count
    share: Count
    computed: Count
    left: Count
    damaged_lines: Count
    failed: list[FailedPoint]
    rows: Count
    csv_sha256: Hash


@dataclass(frozen=True)
class SweepOptions(Options):
    """Run a command at all combinations of its options' values (collective).

    Returns
    -------
    Result
        FOLDER gets ``results.csv`` and ``results.json`` {mpinet, rows}: a row for each row of each
        point's ``--out FILE.csv``, without ``ranks``, with ``point`` (hash of command, options and
        files), ``mpinet`` and ``digest``, and ``error`` where one failed; ``plot.json`` holds the
        file's table ``[plot]``.

    Examples
    --------
    ``mpinet sweep plan.toml --out runs``

    ``mpinet sweep plan.toml --out runs --shard 1/4``

    >>> import mpinet
    >>> plan = {"command": "flood", "topology": ["ring:8", "hypercube:3"], "root": [0, 5]}
    >>> rows = mpinet.sweep(plan).records()
    >>> [(row["topology"], row["option.root"], row["steps"]) for row in rows]
    [('ring:8', 0, 4), ('ring:8', 5, 4), ('hypercube:3', 0, 3), ('hypercube:3', 5, 3)]
    """

    command = "sweep"
    plan: Annotated[Path | str | Mapping[str, Any], Typed(metavar="FILE.toml")]
    """TOML or JSON file, or its content: the command's name, and a value, a list or a range for
    each option; in a table ``plot``, how `plot` draws the results."""
    _: KW_ONLY
    folder: Annotated[
        Path | str | None, Typed(words=("--out",), metavar="FOLDER", required=True)
    ] = None
    """Folder that keeps every run at once, and at the end ``results.csv`` and ``results.json``.
    Runs that are there are not made again."""
    shard: Annotated[str | None, Typed(metavar="K/N")] = None
    """Share of the points, ``K/N``: only the K-th of N shares, 1..N."""
    together: bool = False
    """Let all ranks play each point together, instead of each its own: for machines too large for
    one rank."""


sweep = function_with(SweepOptions, SweepResult, Saved, Shown)

"""``mpinet sweep``: run a command for all combinations of option values in a plan file."""

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
    """Failed point of a sweep, with the error sentence."""

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
    """Run a command for all combinations of its options' values (collective).

    Returns
    -------
    Result
        FOLDER gets ``results.csv`` and ``results.json`` {mpinet, rows}, with the rows of each
        point's
        ``--out FILE.csv``. A row has no ``ranks``; it has ``point`` (hash of command, options and
        files), ``mpinet``, ``digest``, and ``error`` for a failed point. ``plot.json`` holds the
        plan's
        table ``[plot]``.

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
    """Plan (TOML or JSON file, or its content): the command's name, and a value, list or range for
    each option. A table ``plot`` has options of `plot` for the results."""
    _: KW_ONLY
    folder: Annotated[
        Path | str | None, Typed(words=("--out",), metavar="FOLDER", required=True)
    ] = None
    """Folder for each run's result as soon as the run ends, and finally for ``results.csv`` and
    ``results.json``. Runs with a result in the folder are not repeated."""
    shard: Annotated[str | None, Typed(metavar="K/N")] = None
    """Part of the points, ``K/N``: only part K of N parts, 1..N."""
    together: bool = False
    """Run each point on all ranks together instead of one point per rank, for machines too large
    for one rank."""


sweep = function_with(SweepOptions, SweepResult, Saved, Shown)

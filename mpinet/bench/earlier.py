"""Comparison with an earlier run's ratios: rows that fell by more than their spread."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mpinet.base.files import read_text
from mpinet.bench.benchmark import Benchmark, BenchSetting, loss
from mpinet.bench.measurement import row_command
from mpinet.errors import FileError, UsageError

Row = Mapping[str, Any]

LEAST_ROUNDS = 2
"""Minimum number of rounds of a row with a spread."""


@dataclass(frozen=True)
class Ratio:
    """Ratio of a row, with its range over the rounds."""

    ratio: float
    spread: tuple[float, float]
    rounds: int


Ratios = Mapping[tuple[str, int], Ratio]
"""Ratios by name and number of ranks of a row."""


def read_ratios(path: Path, chosen: Iterable[Benchmark], setting: BenchSetting) -> Ratios:
    """Read an earlier run's ratios of some benchmarks, measured with the same setting.

    Parameters
    ----------
    path : Path
        Result document of ``mpinet bench --json``.
    chosen : iterable of Benchmark
        Benchmarks to compare.
    setting : BenchSetting
        Size and clock of the rows to compare.

    Raises
    ------
    FileError
        The file cannot be read, or is not a result of ``mpinet bench --json``.
    UsageError
        No row of the file can be compared.
    """
    try:
        rows = [_own_part(row) for row in json.loads(read_text(path))["result"]]
    except OSError as error:
        raise FileError(f"--against {path}: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FileError(
            f"--against {path}: the file is not a result of mpinet bench --json."
        ) from None
    pairs = {one.row_name(each): (one, each) for one in chosen for each in one.baselines}
    found = {
        (name, ranks): ratio
        for name, ranks, command, ratio in rows
        if ratio is not None
        and name in pairs
        # The command contains size, ranks and clock. Rows of another setting must not be compared.
        and command == row_command(*pairs[name], replace(setting, ranks=ranks), ranks)
    }
    if not found:
        said = f" The file has rows of {rows[0][2]!r}." if rows else ""
        raise UsageError(
            f"--against {path} has no ratio of these benchmarks at this size and clock.{said}"
        )
    return found


def _own_part(row: Row) -> tuple[str, int, str, Ratio | None]:
    """Return a row's name, ranks, command and ratio; raise `ValueError` for an invalid row."""
    name, ranks, command, ratio = row["name"], row["ranks"], row["command"], row["ratio"]
    if not (isinstance(name, str) and isinstance(command, str) and isinstance(ranks, int)):
        raise ValueError("no row of a benchmark")
    if ratio is None:
        return name, ranks, command, None
    low, high = map(float, row["spread"]["ratio"])
    return name, ranks, command, Ratio(float(ratio), (low, high), int(row["rounds"]))


def compared(row: Row, ratios: Ratios) -> dict[str, Any]:
    """Return a measured row with its earlier ratio, and whether the row fell.

    A row fell if its ratio worsened by more than the wider of the two ranges over the rounds. A
    ratio of a single round has no range, so its row is not judged.
    """
    before = ratios.get((row["name"], row["ranks"]))
    if before is None or row["ratio"] is None:
        return {**row, "earlier": None, "fell": None}
    earlier = {"ratio": before.ratio, "spread": list(before.spread)}
    if min(before.rounds, row["rounds"]) < LEAST_ROUNDS:
        return {**row, "earlier": earlier, "fell": None}
    # Both runs are noisy. Only a fall beyond the wider range counts.
    widest = max(high - low for low, high in (before.spread, row["spread"]["ratio"]))
    fell = loss(row["unit"], before.ratio, row["ratio"]) > widest
    return {**row, "earlier": earlier, "fell": fell}

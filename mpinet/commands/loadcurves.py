"""The curves of ``mpinet load`` as people see them: tables, a plot, the sentence on a deadlock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from mpinet.base.files import whole_file
from mpinet.report.curves import curves_of
from mpinet.report.rows import Row
from mpinet.report.tables import cell_text, table

WIDTHS = {False: 5.0, True: 9.0}
"""Inches of a plot of one pattern, and of several side by side."""

LABELS = ("messages per processor and step", "mean latency in steps")

COLUMNS = {
    "rate": "rate",
    "offered": "offered",
    "throughput": "throughput",
    "latency_mean": "latency",
    "latency_ci95": "+-",
    "latency_p50": "p50",
    "latency_p99": "p99",
    "network_latency_mean": "in network",
    "hops_mean": "hops",
    "utilisation_max": "busiest",
    "saturated": "saturated",
}


def curve_table(curve: Row, traffic: str) -> str:
    """Format the runs of a curve, with its conclusions; `traffic` heads the table."""
    rows = [_cells(point) for point in curve["points"]]
    lines = [traffic, table(rows, list(COLUMNS.values()))]
    if (curve["saturation_point"], curve["saturation_throughput"]) != (None, None):
        lines.append(
            f"saturation: last stable rate {cell_text(curve['saturation_point'])}, throughput "
            f"in overload {cell_text(curve['saturation_throughput'])}"
        )
    lines.append(f"bound by the busiest channel: {cell_text(curve['bound'])}")
    if curve["better_routing"]:
        lines.append(f"--routing {curve['better_routing']} would raise the bound")
    return "\n".join(lines)


def _cells(point: Row) -> list[Any]:
    """Return the cells of a point; in a deadlock its measures mean nothing."""
    if not point["deadlock"]:
        return [point[name] for name in COLUMNS]
    known = {"rate": point["rate"], "offered": point["offered"], "saturated": "deadlock"}
    return [known.get(name) for name in COLUMNS]


def pattern_table(curves: Sequence[Row], pattern: str, varied: Sequence[str] = ()) -> str:
    """Format the highest stable rates under a pattern and their latencies.

    There is a line for each network, and for each combination of what was varied.
    """
    alike: dict[tuple[Any, ...], list[Row]] = {}
    for curve in curves:
        alike.setdefault((curve["network"], *(curve[name] for name in varied)), []).append(curve)
    rows = [[*which, *_summary(each)] for which, each in alike.items()]
    heading = (
        "network",
        *varied,
        "stable to",
        "throughput in overload",
        "latency at",
        "",
        "at",
        "",
    )
    return f"{pattern} traffic\n{table(rows, heading)}"


def _summary(curves: list[Row]) -> list[Any]:
    """Return the cells of curves that differ in their seeds: the means over these."""
    rates: dict[float, list[Row]] = {}
    for curve in curves:
        for point in curve["points"]:
            rates.setdefault(point["rate"], []).append(point)
    stable = []
    for rate in sorted(rates):
        if any(point["saturated"] for point in rates[rate]):
            break
        stable.append(rate)
    overload = [curve["saturation_throughput"] for curve in curves]
    full = "-" if None in overload else f"{fmean(overload):.3g}"
    if not stable:
        return ["-", full, "-", "-", "-", "-"]
    half = max(rate for rate in stable if rate <= max(stable[-1] / 2, stable[0]))
    cells: list[Any] = [f"{stable[-1]:.3g}", full]
    for rate in (stable[0], half):
        latencies = [p["latency_mean"] for p in rates[rate] if p["latency_mean"] is not None]
        cells += [f"{rate:.3g}", f"{fmean(latencies):.2f}" if latencies else "-"]
    return cells


def draw_curves(path: Path, every: Sequence[Row], drawn: Mapping[str, Any]) -> None:
    """Draw latency over rate; rates at which a seed is saturated are hollow and dashed.

    Parameters
    ----------
    path : Path
        The picture.
    every : sequence of dict
        A row for each run; in a deadlock nothing was measured.
    drawn : mapping
        The table ``[plot]``: what is drawn, and how.
    """
    from mpinet.report.drawing.axes import plotted

    rows = [row for row in every if not row["deadlock"] and row["latency_mean"] is not None]
    if not rows:
        return
    sides, error = drawn.get("panels"), drawn.get("error")
    marks = {"hollow": drawn["hollow"], "tick": drawn["tick"]}
    curves = curves_of(rows, drawn["x"], drawn["y"], drawn["by"], sides, error, **marks)
    kind = path.suffix.lower().removeprefix(".")
    made = plotted(curves, kind, drawn["width"], (drawn["x_label"], drawn["y_label"]), knees=True)
    with whole_file(path) as file:
        file.write(made)


def told_deadlock(network: str, point: Row) -> str:
    """Return the sentence on a deadlock: its step, its flits, and the cycle of channels."""
    channels = [
        f"{node}:{port}.{vc} ({source} to {target})"
        for (node, port, vc), (source, target, _) in zip(
            point["cycle"], point["cycle_messages"], strict=True
        )
    ]
    if len(channels) > SHOWN:
        channels = [*channels[: SHOWN - 1], f".. {len(channels) - SHOWN + 1} more"]
    return (
        f"Deadlock on {network} at rate {point['rate']:g}: the last flit moved in step "
        f"{point['last_move']}, and {point['stuck_flits']} are left. Each of these channels "
        f"(node:port.vc, with the message that waits behind it) waits for the next, the last for "
        f"the first: {', '.join(channels)}. Without --classes and --vcs load takes classes that "
        "break such circles."
    )


SHOWN = 8
"""Channels of a deadlock that a sentence names."""

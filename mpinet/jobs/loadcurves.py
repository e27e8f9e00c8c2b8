"""Printed curves of ``mpinet load``: tables, a plot, and the sentence on a deadlock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from mpinet.jobs.plots import write_curves
from mpinet.jobs.timing import listed_stuck
from mpinet.report.curves import confidence, curves_of, subject
from mpinet.report.rows import Row
from mpinet.report.tables import cell_text, table

WIDTHS = {False: 5.0, True: 9.0}
"""Width in inches of a plot of one pattern, and of several panels."""

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
    """Format the runs of a curve with conclusions; `traffic` is the table's heading."""
    # A program has no rate, and no rates bounded by channels.
    has_rate = "program" not in curve["points"][0]
    rows = [_cells(point)[not has_rate :] for point in curve["points"]]
    lines = [traffic, table(rows, list(COLUMNS.values())[not has_rate :])]
    if (curve["saturation_point"], curve["saturation_throughput"]) != (None, None):
        full = cell_text(curve["saturation_throughput"])
        lines.append(f"saturation: {_stable(curve['points'])}, throughput in overload {full}")
    lines += _searches(curve)
    if has_rate:
        lines.append(f"bound by the busiest channel: {cell_text(curve['bound'])}")
    lines += [intervals_table(point) for point in curve["points"] if "intervals" in point]
    if curve["better_routing"]:
        lines.append(f"--routing {curve['better_routing']} would raise the bound")
    return "\n".join(lines)


def _stable(points: Sequence[Row]) -> str:
    """Return a clause on the highest stable rate, also if every rate or no rate is saturated."""
    stable = [point["rate"] for point in points if not point["saturated"]]
    if not stable:
        return f"every rate is saturated (lowest {cell_text(points[0]['rate'])})"
    if len(stable) == len(points):
        return f"no rate is saturated (highest {cell_text(stable[-1])})"
    return f"last stable rate {cell_text(stable[-1])}"


SHOWN_INTERVALS = 40
"""Number of intervals of a run in the printed table, from the first."""


def intervals_table(point: Row) -> str:
    """Format the intervals of a run."""
    names = ("begin", "steps", "offered", "throughput", "backlog", "utilisation_max", "busiest")
    rows = [
        [":".join(map(str, each[n])) if n == "busiest" else each[n] for n in names]
        for each in point["intervals"][:SHOWN_INTERVALS]
    ]
    heading = [*names[:5], "busiest", "node:port"]
    more = len(point["intervals"]) - len(rows)
    text = f"intervals at rate {point['rate']:g}\n{table(rows, heading)}"
    return text + (f"\n.. and {more} more, which --json has" if more else "")


def _searches(curve: Row) -> list[str]:
    """Return sentences on additional measurements: warm-ups, windows, energy, saturation."""
    lines = []
    points, found = curve["points"], curve.get("saturation")
    if "warmup" in points[0]:
        each = [f"{p['warmup']}{'' if p['warmup_found'] else ' (not found)'}" for p in points]
        lines.append(f"warm-up by MSER-5: {', '.join(each)} steps")
    if "window" in points[0]:
        each = [f"{p['window']}{'' if p['converged'] else ' (not narrow)'}" for p in points]
        lines.append(f"window for the requested confidence interval: {', '.join(each)} steps")
    if "round_trip" in points[0].get("latency_by_kind", {}):
        each = [cell_text(p["latency_by_kind"]["round_trip"]["mean"]) for p in points]
        lines.append(f"mean round trip: {', '.join(each)} steps")
    if "rates_by_kind" in points[0]:
        for kind in points[0]["rates_by_kind"]:
            of = [(p["latency_by_kind"][kind], p["rates_by_kind"][kind]) for p in points]
            texts = [map(cell_text, (a["mean"], a["p99"], b["throughput"])) for a, b in of]
            each = ["{} (p99 {}) at {}".format(*text) for text in texts]
            lines.append(f"{kind} messages, latency at throughput: {', '.join(each)}")
    if "phase_steps" in points[0]:
        each = [" + ".join(map(str, p["phase_steps"])) or "not done" for p in points]
        lines.append(f"steps of the phases: {', '.join(each)}")
    if "program" in points[0]:
        played = points[0]["program"]
        if played["stuck"]:
            lines.append(
                f"{played['stuck']} operations of the program never end; all others end within "
                f"{played['time']} steps"
            )
        else:
            lines.append(f"the program ends after {played['time']} steps")
    if "cut" in points[0]:
        each = [f"{p['cut']} and {p['undeliverable']}" for p in points]
        lines.append(f"messages lost in failed parts, and undeliverable: {', '.join(each)}")
    if "energy" in points[0]:
        each = [cell_text(point["energy_per_bit"]) for point in points]
        lines.append(f"energy per accepted bit: {', '.join(each)}")
    if found:
        stable, above = cell_text(found["stable"]), cell_text(found["saturated"])
        lines.append(
            f"saturation by bisection: stable at {stable}, saturated at {above} ({found['runs']} "
            "runs)"
        )
    return lines


def _cells(point: Row) -> list[Any]:
    """Return the cells of a point; after a deadlock the measures are left out."""
    if not point["deadlock"]:
        return [point[name] for name in COLUMNS]
    known = {"rate": point["rate"], "offered": point["offered"], "saturated": "deadlock"}
    return [known.get(name) for name in COLUMNS]


def pattern_table(curves: Sequence[Row], pattern: str, varied: Sequence[str] = ()) -> str:
    """Format the highest stable rates under a pattern, with their latencies.

    The table has a line for each network, and for each combination of varied options.
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


def program_table(curves: Sequence[Row], name: str, varied: Sequence[str]) -> str:
    """Format a program's end time on each network, with latency and load of its messages."""
    names = ("network", *varied, *(["seed"] if len({c.get("seed") for c in curves}) > 1 else []))
    rows = []
    for curve in curves:
        (point,) = curve["points"]
        measured = [point["program"]["time"], point["latency_mean"], point["latency_p99"]]
        measured += [point["network_latency_mean"], point["hops_mean"], point["utilisation_max"]]
        rows.append([*(curve[each] for each in names), *measured])
    heading = (*names, "steps", "latency", "p99", "in network", "hops", "busiest")
    return f"{name}\n{table(rows, heading)}"


def _summary(curves: list[Row]) -> list[Any]:
    """Return the cells for curves that differ only in the seed: means over the seeds."""
    rates: dict[float, list[Row]] = {}
    for curve in curves:
        for point in curve["points"]:
            rates.setdefault(point["rate"], []).append(point)
    stable = []
    # A rate is stable if all seeds are stable at this and all lower rates. Above the knee, a seed
    # may look stable by chance.
    for rate in sorted(rates):
        if any(point["saturated"] for point in rates[rate]):
            break
        stable.append(rate)
    overload = [curve["saturation_throughput"] for curve in curves]
    full = "-" if None in overload else f"{fmean(overload):.3g}"
    if not stable:
        return [f"< {min(rates):.3g}", full, "-", "-", "-", "-"]
    half = max(rate for rate in stable if rate <= max(stable[-1] / 2, stable[0]))
    open_end = ">= " if len(stable) == len(rates) else ""
    cells: list[Any] = [f"{open_end}{stable[-1]:.3g}", full]
    for rate in (stable[0], half):
        latencies = [p["latency_mean"] for p in rates[rate] if p["latency_mean"] is not None]
        cells += [f"{rate:.3g}", f"{fmean(latencies):.2f}" if latencies else "-"]
    return cells


def between_seeds(curves: Sequence[Row], varied: Sequence[str]) -> list[Row]:
    """Return the means over seeds at each rate, with 95 % confidence intervals.

    Each row is for one network, pattern, combination of varied options, and rate. If a seed ended
    in a deadlock, the means are null.
    """
    alike: dict[tuple[Any, ...], list[Row]] = {}
    names = ("network", "routing", "pattern", *(name for name in varied if name != "routing"))
    for curve in curves:
        for point in curve["points"]:
            which = (*(curve[name] for name in names), point["rate"])
            alike.setdefault(which, []).append(point)
    return [
        dict(zip((*names, "rate"), which, strict=True)) | _between(points)
        for which, points in alike.items()
    ]


def _between(points: Sequence[Row]) -> Row:
    """Return mean throughput and mean latency of points that differ only in the seed."""
    row: Row = {
        "seeds": len(points),
        "saturated": sum(bool(point["saturated"]) for point in points),
    }
    for name, measure in (("throughput", "throughput"), ("latency", "latency_mean")):
        values = [point[measure] for point in points if not point["deadlock"]]
        # A mean over the remaining seeds would flatter the network, so a deadlocked seed counts as
        # a failure.
        whole = len(values) == len(points) and None not in values
        row[name] = fmean(values) if whole else None
        row[f"{name}_ci95"] = confidence(values) if whole else None
    return row


def seeds_table(rows: Sequence[Row]) -> str:
    """Format the means over seeds, with their confidence intervals."""
    names = [name for name in rows[0] if len({str(row[name]) for row in rows}) > 1]
    shown = dict.fromkeys(
        [*(name for name in names if name not in MEASURED), "rate", "saturated", *MEASURED]
    )
    heading = ["+-" if name.endswith("_ci95") else name for name in shown]
    seeds = rows[0]["seeds"]
    return f"means over {seeds} seeds, +- the 95 % interval between seeds\n" + table(
        [[row[name] for name in shown] for row in rows], heading
    )


MEASURED = ("throughput", "throughput_ci95", "latency", "latency_ci95")


def draw_curves(path: Path, every: Sequence[Row], drawn: Mapping[str, Any]) -> None:
    """Draw latency over rate; points are hollow and dashed if a seed is saturated at the rate.

    Parameters
    ----------
    path : Path
        File of the picture.
    every : sequence of dict
        A row for each run; runs with a deadlock have no measurements.
    drawn : mapping
        The table ``[plot]``: columns and style.
    """
    # A deadlocked run has measured only the messages before the deadlock. Their latencies are not
    # the network's.
    rows = drawable(every)
    if not rows:
        return
    sides, error = drawn.get("panels"), drawn.get("error")
    marks = {"hollow": drawn["hollow"], "tick": drawn["tick"]}
    curves = curves_of(rows, drawn["x"], drawn["y"], drawn["by"], sides, error, **marks)
    labels = drawn["x_label"], drawn["y_label"]
    write_curves(path, curves, labels, drawn["width"], knees=True, title=subject(rows))


def drawable(every: Sequence[Row]) -> list[Row]:
    """Return the runs with a latency: no deadlock, and at least one delivered message."""
    return [row for row in every if not row["deadlock"] and row["latency_mean"] is not None]


def told_stuck(network: str, point: Row) -> str:
    """Return the sentence on a program's operations that never ended."""
    played = point["program"]
    return (
        f"{played['stuck']} operations never end on {network}:\n"
        f"{listed_stuck(played['stuck_operations'])}"
    )


def told_deadlock(network: str, point: Row, faulty: bool) -> str:
    """Return the sentence on a deadlock: step, flits, and cycle of channels.

    `faulty` is True if nodes or links were dead, which may have closed the cycle.
    """
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
        f"{point['last_move']}, and {point['stuck_flits']} flits are left. In this cycle each "
        "channel (node:port.vc, with its blocked message) waits for the next: "
        f"{', '.join(channels)}. "
        + ("The faults may have closed this cycle. " if faulty else "")
        + "Without --classes and --vcs, load uses classes that break such cycles."
    )


SHOWN = 8
"""Largest number of a deadlock's channels that a sentence names."""

"""Results of a run of open-loop traffic: integer counts, and the fractions derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine.hop import SEAL_MASK
from mpinet.machine.traffic.layout import ROUND
from mpinet.machine.traffic.parameters import TENTHS
from mpinet.machine.traffic.run import OpenLoop

STUDENT = 2.262157
"""Two-sided 95 % quantile of Student's t with 9 degrees of freedom."""

QUANTILES = (50, 95, 99)

SUMMED = (
    *("generated", "generated_flits", "accepted", "accepted_flits", "delivered", "undeliverable"),
    *("open", "inside_sum", "hops_sum", "moves", "backlog_before", "backlog_after", "inside"),
    *("seal", "dropped_flits"),
)
LARGEST = ("source_queue_max", "node_flits_max", "last_move")
"""Fields of the ranks' ledgers that results take as sums (`SUMMED`), and as maxima (`LARGEST`)."""

CALLED = {"open": "unfinished", "inside_sum": "network_latency_sum", "inside": "stuck_flits"}
CALLED |= {"cut_measured": "cut"}
"""Names in a result for ledger fields with another name."""


def results(run: OpenLoop) -> dict[str, Any]:
    """Return the results of a finished run, the same on all ranks (collective).

    docs/reference/traffic.md explains the fields.
    """
    machine, ledger, books = run.machine, run.ledger, run.books
    found: dict[str, Any] = {
        "steps": run.steps,
        "closed": ledger.closed,
    }
    summed = (*SUMMED, *(["cut_measured"] if run.failing is not None else []))
    totals = machine.sum(*(getattr(ledger, name) for name in summed))
    found |= {CALLED.get(name, name): total for name, total in zip(summed, totals, strict=True)}
    found["seal"] &= SEAL_MASK
    # The kernel records a queue's length one step later: the length in the last step is missing.
    ledger.source_queue_max = max(ledger.source_queue_max, run.longest_queue)
    largest = machine.max(*(getattr(ledger, name) for name in LARGEST))
    found |= dict(zip(LARGEST, largest, strict=True))
    loads = run.carried()
    channels = run.wired_ports if machine.topology.links else len(loads)
    loads_max = machine.max(int(loads.max(initial=0)))[0]
    loads_sum, channels = machine.sum(int(loads.sum()), channels)
    flits = run.entered
    entered, squares = machine.sum(int(flits.sum()), int((flits**2).sum()))
    latencies = machine.transport.sum(_padded(run))
    batches = machine.transport.sum(books.batches)
    cycle = run.cycle()
    found |= {
        "loads_sum": loads_sum,
        "loads_max": loads_max,
        "deadlock": found["stuck_flits"] > 0,
        "cycle": [[each["node"], each["port"], each["vc"]] for each in cycle],
        "cycle_messages": [[each["source"], each["target"], each["born"]] for each in cycle],
        "batches": batches.tolist(),
    }
    # Round trips are no messages.
    messages = latencies[:ROUND] if run.generation.reply_flits else latencies
    found |= _latency(np.trim_zeros(messages.sum(axis=0), "b"))
    if run.generation.kinds:
        found["latency_by_kind"] = by_kind(run.generation.kinds, latencies)
    if run.generation.bounds:
        found["rates_by_kind"] = _rates(run)
    if run.generation.batch:
        found["phase_steps"] = _phase_steps(run)
    if run.failing is not None:
        found["account"] = run.account
    if run.intervals is not None:
        found["intervals"] = run.intervals.results()
    if run.played is not None:
        found["program"] = run.played.results()
        # Open items include operations of a program.
        found["unfinished"] -= found["program"]["stuck"]
    found |= _derived(run, found, channels, entered, squares)
    if run.generation.batch:
        # Open messages include messages of a phase that no processor has generated yet.
        ended = ("delivered", "undeliverable", "cut")
        found["unfinished"] = found["generated"] - sum(found.get(name, 0) for name in ended)
    return found


def _padded(run: OpenLoop) -> Ints:
    """Return this rank's histogram of latencies, padded to the largest length of any rank."""
    mine = run.books.latencies
    kinds, room = mine.shape
    longest = np.flatnonzero(mine.any(axis=0))
    needed = run.machine.max(int(longest[-1]) + 1 if longest.size else 1)[0]
    padded = np.zeros((kinds, needed), np.int64)
    padded[:, : min(needed, room)] = mine[:, :needed]
    return padded


def by_kind(kinds: Sequence[str], histograms: Ints) -> dict[str, dict[str, Any]]:
    """Return number, sum, mean, maximum and quantiles of the latencies of each kind of message."""
    found = {}
    for name, histogram in zip(kinds, histograms, strict=True):
        count = int(histogram.sum())
        shown = {
            key.removeprefix("latency_"): value
            for key, value in _latency(np.trim_zeros(histogram, "b")).items()
        }
        found[name] = {"delivered": count, "mean": mean(shown["sum"], count), **shown}
    return found


def _rates(run: OpenLoop) -> dict[str, dict[str, Any]]:
    """Return the generated and the accepted flits of messages of each priority (collective)."""
    shares = run.machine.transport.sum(run.books.shares).tolist()
    each = run.machine.topology.hosts * measured_steps(run)
    return {
        kind: {
            "generated_flits": generated,
            "accepted_flits": accepted,
            "offered": generated / each,
            "throughput": accepted / each,
        }
        for kind, (generated, accepted) in zip(run.generation.kinds, shares, strict=True)
    }


def _phase_steps(run: OpenLoop) -> list[int]:
    """Return the steps of each finished phase."""
    begun, ledger = run.books.begun[: run.ledger.phase].tolist(), run.ledger
    ends = [*begun[1:], *([ledger.closed] if not ledger.open_everywhere else [])]
    return [end - begin for begin, end in zip(begun, ends, strict=False)]


def measured_steps(run: OpenLoop) -> int:
    """Return the steps of the window; for phases the steps from the first begin to the close."""
    if not run.generation.has_end:
        return run.window.steps
    return max(1, run.ledger.closed if run.ledger.closed >= 0 else run.steps)


def mean(total: int, count: int) -> float | None:
    """Return the mean of `count` values with this sum; None without values."""
    return total / count if count else None


def _latency(histogram: Ints) -> dict[str, Any]:
    """Return sum, maximum and quantiles of latencies in steps, from a histogram; None if empty."""
    total = int(histogram.sum())
    below = np.cumsum(histogram)
    found: dict[str, Any] = {
        "latency_sum": int(np.arange(len(histogram)) @ histogram),
        "latency_max": len(histogram) - 1 if total else None,
    }
    for percent in QUANTILES:
        rank = (percent * total + 99) // 100
        found[f"latency_p{percent}"] = int(np.searchsorted(below, rank)) if total else None
    return found


def _derived(
    run: OpenLoop, found: dict[str, Any], channels: int, entered: int, squares: int
) -> dict[str, Any]:
    """Return rates, means and fractions, computed from the integer counts."""
    hosts, steps = run.machine.topology.hosts, measured_steps(run)
    done = found["delivered"]
    is_drawn = run.generation.is_drawn and not run.generation.has_end
    # Drained and cut flits have left the network: they are no sign of saturation.
    ended = found["accepted_flits"] + found.pop("dropped_flits")
    slow = 20 * ended < 19 * found["generated_flits"]
    return {
        "offered": found["generated_flits"] / (hosts * steps),
        "throughput": found["accepted_flits"] / (hosts * steps),
        "latency_mean": mean(found["latency_sum"], done),
        "latency_ci95": interval(found["batches"]),
        "network_latency_mean": mean(found["network_latency_sum"], done),
        "hops_mean": mean(found["hops_sum"], done),
        "utilisation_mean": found["loads_sum"] / (max(1, channels) * steps),
        "utilisation_max": found["loads_max"] / steps,
        "jain": entered * entered / (hosts * squares) if squares else 1.0,
        "saturated": found["unfinished"] > 0 or (is_drawn and slow),
    }


def interval(batches: list[list[int]]) -> float | None:
    """Return half the width, in steps, of the 95 % confidence interval of the mean latency.

    The interval is computed from the mean latencies of the ten parts of the window.
    """
    means = [total / count for count, total in batches if count]
    if len(means) != TENTHS:
        return None
    centre = sum(means) / TENTHS
    spread = sum((mean - centre) ** 2 for mean in means) / (TENTHS - 1)
    return STUDENT * sqrt(spread / TENTHS)

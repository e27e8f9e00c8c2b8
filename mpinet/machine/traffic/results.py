"""What a run of open-loop traffic has found: whole numbers first, all else follows from them."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from mpinet.arrays import Ints
from mpinet.machine.hop import SEAL_MASK
from mpinet.machine.traffic import layout
from mpinet.machine.traffic.run import OpenLoop

STUDENT = 2.262157
"""Student's t of 9 degrees of freedom: 95 % lie within."""

QUANTILES = (50, 95, 99)

SUMMED = (
    *("generated", "generated_flits", "accepted", "accepted_flits", "delivered", "undeliverable"),
    *("open", "inside_sum", "hops_sum", "moves", "backlog_before", "backlog_after", "inside"),
    "seal",
)
LARGEST = ("source_queue_max", "node_flits_max", "last_move")
"""What is taken from the ranks' ledgers."""

CALLED = {"open": "unfinished", "inside_sum": "network_latency_sum", "inside": "stuck_flits"}
"""What is called otherwise in a result."""


def results(run: OpenLoop) -> dict[str, Any]:
    """The results of a run that has ended (collective); the same on all ranks.

    The fields are those of docs/reference/traffic.md.
    """
    machine, ledger, books = run.machine, run.ledger, run.books
    found: dict[str, Any] = {
        "steps": run.steps,
        "closed": ledger.closed,
    }
    totals = machine.sum(*(getattr(ledger, name) for name in SUMMED))
    found |= {CALLED.get(name, name): total for name, total in zip(SUMMED, totals, strict=True)}
    found["seal"] &= SEAL_MASK
    # What still waits in a deadlock is not yet in the ledger.
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
    found |= _latency(latencies)
    return found | _derived(run, found, channels, entered, squares)


def _padded(run: OpenLoop) -> Ints:
    """This rank's latencies, as long as every rank's."""
    mine = run.books.latencies
    longest = np.flatnonzero(mine)
    needed = run.machine.max(int(longest[-1]) + 1 if longest.size else 1)[0]
    padded = np.zeros(needed, np.int64)
    padded[: min(needed, len(mine))] = mine[:needed]
    return padded


def _latency(histogram: Ints) -> dict[str, int]:
    """Sum, largest and quantiles of latencies, from how many there are of each."""
    total = int(histogram.sum())
    below = np.cumsum(histogram)
    found = {
        "latency_sum": int(np.arange(len(histogram)) @ histogram),
        "latency_max": len(histogram) - 1 if total else 0,
    }
    for percent in QUANTILES:
        rank = (percent * total + 99) // 100
        found[f"latency_p{percent}"] = int(np.searchsorted(below, rank)) if total else 0
    return found


def _derived(
    run: OpenLoop, found: dict[str, Any], channels: int, entered: int, squares: int
) -> dict[str, Any]:
    """Fractions of the whole numbers."""
    hosts, steps = run.machine.topology.hosts, run.window.steps
    done = max(1, found["delivered"])
    slow = 20 * found["accepted_flits"] < 19 * found["generated_flits"]
    return {
        "offered": found["generated_flits"] / (hosts * steps),
        "throughput": found["accepted_flits"] / (hosts * steps),
        "latency_mean": found["latency_sum"] / done,
        "latency_ci95": interval(found["batches"]),
        "network_latency_mean": found["network_latency_sum"] / done,
        "hops_mean": found["hops_sum"] / done,
        "utilisation_mean": found["loads_sum"] / (max(1, channels) * steps),
        "utilisation_max": found["loads_max"] / steps,
        "jain": entered * entered / (hosts * squares) if squares else 1.0,
        "saturated": found["unfinished"] > 0 or (run.generation.rows is None and slow),
    }


def interval(batches: list[list[int]]) -> float | None:
    """Half the width of the 95 % confidence interval of the mean of ten parts' means."""
    means = [total / count for count, total in batches if count]
    if len(means) < layout.TENTHS:
        return None
    centre = sum(means) / layout.TENTHS
    spread = sum((mean - centre) ** 2 for mean in means) / (layout.TENTHS - 1)
    return STUDENT * sqrt(spread / layout.TENTHS)

"""Searches for the length of a run of open-loop traffic, and for the saturation rate.

A search consists of ordinary runs, with varying warm-up, window or rate. The last run is the
result. It equals the result of a command with the same values given explicitly. With checkpoints,
the results of finished runs are kept, and only the current run is resumed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mpinet.machine import Machine
from mpinet.machine.state import Frame
from mpinet.machine.traffic.parameters import Window

BATCH = 5
"""Length in steps of a batch of births; its mean latency is one observation (the 5 of MSER-5)."""

LEFT = 5
"""Least number of batches left after truncation."""

DOUBLINGS = 6
"""Largest number of doublings of a pilot run, or of a window."""

VAIN = 2
"""Number of consecutive saturated runs after which the length is no longer doubled: a single short
run may be saturated by chance.
"""

Point = dict[str, Any]
"""Results of a run."""


@dataclass(frozen=True)
class Steady:
    """Searches for values that the user did not name."""

    auto: bool = False
    """True if a pilot run determines the warm-up."""
    until: float = 0.0
    """Target for the window's length: half the width of the mean latency's confidence interval, as
    a fraction of the mean. 0: the window has the given length.
    """
    resolution: float = 0.0
    """Accuracy of the saturation rate, in messages per processor and step; 0: no search."""

    def __bool__(self) -> bool:
        return self.auto or self.until > 0


NAMED = Steady()
"""No search: all values are named."""


def truncation(means: Sequence[float]) -> int:
    """Return the number of observations to leave out at the start (MSER: White 1997).

    The result is the d with the smallest standard error of the remaining observations, treated as
    independent. The squared error is the sum of (y - mean)^2 over the last n - d observations,
    divided by (n - d)^2. The smallest d breaks ties. At least `LEFT` observations remain.

    Parameters
    ----------
    means : sequence of float
        More than `LEFT` observations, in order.
    """
    best, found = float("inf"), 0
    mean = squares = 0.0
    for left, value in enumerate(reversed(means), 1):
        # From the end backwards, one more observation each time (Welford's sums).
        change = value - mean
        mean += change / left
        squares += change * (value - mean)
        if left >= LEFT and squares / left**2 <= best:
            best, found = squares / left**2, len(means) - left
    return found


def batch_means(window: Window, batches: Sequence[Sequence[int]]) -> list[tuple[int, float]]:
    """Return the first step and mean latency of each window part with births of messages."""
    begins = [window.warmup + window.steps * i // window.parts for i in range(window.parts)]
    return [
        (begin, total / count)
        for begin, (count, total) in zip(begins, batches, strict=True)
        if count
    ]


def steady_run(
    machine: Machine, window: Window, steady: Steady, run: Callable[[Window], Point]
) -> Point:
    """Make the runs of a search, and return the results of the last run (collective).

    Parameters
    ----------
    machine : Machine
        The machine for the runs.
    window : Window
        The initial window.
    steady : Steady
        The values to search for.
    run : callable
        Makes a run with a window (collective) and returns its results.

    Returns
    -------
    dict
        Results of the last run; with `steady.auto` also ``warmup`` and ``warmup_found``, with
        `steady.until` also ``window`` and ``converged``.
    """
    with Frame(machine.transport, "steady", dict, lambda found: None) as frame:

        def made(name: str, window: Window) -> Point:
            """Make a run, or return its stored results if the search was resumed."""
            found: Point = json.loads(frame.once(name, lambda: json.dumps(run(window))))
            return found

        more: Point = {}
        if steady.auto:
            warmup, was_found = _warmup(window, made)
            window = replace(window, warmup=warmup)
            more |= {"warmup": warmup, "warmup_found": was_found}
        if not steady.until:
            return made("run", window) | more
        vain = 0
        for doubled in range(DOUBLINGS + 1):
            longer = replace(window, steps=window.steps << doubled)
            point = made(f"window {doubled}", longer)
            vain = vain + 1 if point["saturated"] else 0
            if vain == VAIN or _is_narrow(point, steady.until):
                break
        return point | more | {"window": longer.steps, "converged": _is_narrow(point, steady.until)}


def _warmup(window: Window, made: Callable[[str, Window], Point]) -> tuple[int, bool]:
    """Return the warm-up in steps, from a pilot run, and whether the pilot was long enough."""
    vain = 0
    for doubled in range(DOUBLINGS + 1):
        parts = (window.steps << doubled) // BATCH
        pilot = replace(window, warmup=0, steps=parts * BATCH, parts=parts)
        point = made(f"pilot {doubled}", pilot)
        seen = batch_means(pilot, point["batches"])
        vain = vain + 1 if point["saturated"] else 0
        if not vain and len(seen) > LEFT:
            left_out = truncation([mean for _, mean in seen])
            # If the best cut is in the second half, the pilot has not reached the steady state.
            if 2 * left_out <= len(seen):
                return seen[left_out][0] if left_out else 0, True
        if vain == VAIN:
            break
    # The pilot never settled: half of its length is the most cautious warm-up seen.
    return pilot.steps // 2, False


def _is_narrow(point: Point, until: float) -> bool:
    """Return whether the mean latency's confidence interval is narrow enough."""
    reach = point["latency_ci95"]
    return reach is not None and not point["saturated"] and reach <= until * point["latency_mean"]


def bisected(
    machine: Machine, resolution: float, most: float, run: Callable[[float], Point]
) -> Point:
    """Search for the saturation rate of a network, among multiples of the resolution.

    The search assumes: a network saturated at one rate is saturated at all higher rates.

    Parameters
    ----------
    machine : Machine
        The machine for the runs.
    resolution : float
        Rates are k * resolution.
    most : float
        Rate of overload: upper limit of the rates.
    run : callable
        Makes a run at a rate (collective).

    Returns
    -------
    dict
        ``stable``, the highest rate found stable (None: even the lowest rate is saturated);
        ``saturated``, the next higher rate (None: the highest rate is stable); and ``runs``, the
        number of runs.
    """
    with Frame(machine.transport, "saturation", dict, lambda found: None) as frame:

        def saturates(k: int) -> bool:
            """Return whether the network is saturated at a rate; each run is made once."""
            return bool(frame.once(f"rate {k}", lambda: int(run(rate_of(k))["saturated"])))

        def rate_of(k: int) -> float:
            return round(k * resolution, 12)

        # The factor keeps the highest rate if the division is rounded down, for example 0.3 / 0.1.
        stable, saturated = 0, int(most / resolution * (1 + 1e-9)) + 1
        runs = 0
        while saturated - stable > 1:
            middle = (stable + saturated) // 2
            runs += 1
            if saturates(middle):
                saturated = middle
            else:
                stable = middle
        return {
            "stable": rate_of(stable) if stable else None,
            "saturated": rate_of(saturated) if rate_of(saturated) <= most else None,
            "runs": runs,
        }

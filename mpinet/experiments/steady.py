"""Searches for the length of a run of open-loop traffic, and for the rate of saturation.

A search makes runs like those that a command makes that names their warm-up, window or rate, and
its last one is the result: it is the same as that command's. With checkpoints the results of its
runs are kept, and only the one under way is resumed.
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
"""Steps of a batch of births, whose mean latency is an observation (the 5 of MSER-5)."""

LEFT = 5
"""Batches that a truncation leaves at least."""

DOUBLINGS = 6
"""Most doublings of a pilot, or of a window."""

VAIN = 2
"""Saturated runs in turn after which none of twice the length is made: a short one may be saturated
by chance."""

Point = dict[str, Any]
"""Results of a run."""


@dataclass(frozen=True)
class Steady:
    """Searches for what is not named."""

    auto: bool = False
    """True if a pilot run finds the warm-up."""
    until: float = 0.0
    """Half the width of the mean latency's confidence interval, as a part of the mean, at which the
    window is long enough; 0: the window is as long as was said."""
    resolution: float = 0.0
    """Rates, in messages per processor and step, between which saturation is told apart; 0: no
    search for it."""

    def __bool__(self) -> bool:
        return self.auto or self.until > 0


NAMED = Steady()
"""Nothing is searched for."""


def truncation(means: Sequence[float]) -> int:
    """Return the number of observations to leave out at the begin (MSER: White 1997).

    It is the d for which the standard error of what is left, as if that was independent, is least:
    the sum of (y - mean)^2 over the n - d last ones, divided by (n - d)^2; the least d of equals.
    At least `LEFT` observations are left.

    Parameters
    ----------
    means : sequence of float
        Observations in their order; there are more than `LEFT`.
    """
    best, found = float("inf"), 0
    mean = squares = 0.0
    for left, value in enumerate(reversed(means), 1):
        # From the end on, one observation more each time (Welford's sums).
        change = value - mean
        mean += change / left
        squares += change * (value - mean)
        if left >= LEFT and squares / left**2 <= best:
            best, found = squares / left**2, len(means) - left
    return found


def batch_means(window: Window, batches: Sequence[Sequence[int]]) -> list[tuple[int, float]]:
    """Return, of the parts of a window in which messages were born, first step and mean latency."""
    begins = [window.warmup + window.steps * i // window.parts for i in range(window.parts)]
    return [
        (begin, total / count)
        for begin, (count, total) in zip(begins, batches, strict=True)
        if count
    ]


def steady_run(
    machine: Machine, window: Window, steady: Steady, run: Callable[[Window], Point]
) -> Point:
    """Make the runs of a search, and return the last one's results (collective).

    Parameters
    ----------
    machine : Machine
        What the runs are made on.
    window : Window
        The window to begin with.
    steady : Steady
        What is searched for.
    run : callable
        Makes a run with a window (collective); its results are those of a point.

    Returns
    -------
    dict
        The last run's results; with `steady.auto` also ``warmup`` and ``warmup_found``, with
        `steady.until` ``window`` and ``converged``.
    """
    with Frame(machine.transport, "steady", dict, lambda found: None) as frame:

        def made(name: str, window: Window) -> Point:
            """Make a run, or return what it gave before it was stopped and resumed."""
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
    """Return the steps of the warm-up that a pilot shows, and whether it was long enough."""
    vain = 0
    for doubled in range(DOUBLINGS + 1):
        parts = (window.steps << doubled) // BATCH
        pilot = replace(window, warmup=0, steps=parts * BATCH, parts=parts)
        point = made(f"pilot {doubled}", pilot)
        seen = batch_means(pilot, point["batches"])
        vain = vain + 1 if point["saturated"] else 0
        if not vain and len(seen) > LEFT:
            left_out = truncation([mean for _, mean in seen])
            # Where the best cut is in the second half, the pilot has not seen the steady state.
            if 2 * left_out <= len(seen):
                return seen[left_out][0] if left_out else 0, True
        if vain == VAIN:
            break
    # The pilot never settled: half of its length is the most cautious warm-up that was seen.
    return pilot.steps // 2, False


def _is_narrow(point: Point, until: float) -> bool:
    """Tell if the mean latency's interval is as narrow as was asked."""
    reach = point["latency_ci95"]
    return reach is not None and not point["saturated"] and reach <= until * point["latency_mean"]


def bisected(
    machine: Machine, resolution: float, most: float, run: Callable[[float], Point]
) -> Point:
    """Search for the rate at which a network saturates, among multiples of the resolution.

    It is taken for granted that a network which is saturated at a rate is so at all higher ones.

    Parameters
    ----------
    machine : Machine
        What the runs are made on.
    resolution : float
        Rates are k * resolution.
    most : float
        Rate of overload: the highest of these rates is not above it.
    run : callable
        Makes a run at a rate (collective).

    Returns
    -------
    dict
        ``stable``, the highest rate that was tried and found stable (None: the least one is not),
        ``saturated``, the next higher one (None: the highest is stable), and ``runs`` made.
    """
    with Frame(machine.transport, "saturation", dict, lambda found: None) as frame:

        def saturates(k: int) -> bool:
            """Tell if the network is saturated at a rate; asked once, also if resumed."""
            return bool(frame.once(f"rate {k}", lambda: int(run(rate_of(k))["saturated"])))

        def rate_of(k: int) -> float:
            return round(k * resolution, 12)

        # The factor saves the highest rate where the division is rounded down, as 0.3 / 0.1 is.
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

"""Ticks: the integer unit of time in runs.

A tick is the longest time that divides the unit of time and all costs. A unit is an integer number
of ticks, 1 if all costs are integer units. Costs, programs and results are in ticks during a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from mpinet.errors import TooLarge
from mpinet.machine.timed.layout import CALC, LATEST
from mpinet.machine.timed.program import Program
from mpinet.machine.timed.scripted import Scripted

TIMES = frozenset(
    """time ends waits busy busiest time_before lower_bound begin end cpu nic latency bandwidth
    waiting computed sent received waited""".split()
)
"""Fields of results that are times, or lists of times."""


Played = TypeVar("Played", bound=Program | Scripted)


def slower(program: Played, factor: int) -> Played:
    """Return a program whose calcs take `factor` times as long.

    Raises
    ------
    TooLarge
        A calc would exceed the largest time of a run.
    """
    if factor == 1:
        return program
    if isinstance(program, Scripted):
        return replace(program, scripts=slower(program.scripts, factor))
    calcs = program.kind == CALC
    longest = int(program.amount[calcs].max(initial=0))
    if longest * factor > LATEST:
        raise TooLarge(
            f"{program.name}: a calc of {longest} units is longer than 2^60 ticks of 1/{factor} "
            "unit. A tick divides all costs: round the costs."
        )
    return replace(program, amount=np.where(calcs, program.amount * factor, program.amount))


def with_times(found: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a result, or a nested object of a result, with all its times changed."""

    def changed(value: Any, is_time: bool) -> Any:
        if isinstance(value, dict):
            return with_times(value, change)
        if isinstance(value, list):
            return [changed(one, is_time) for one in value]
        return change(value) if is_time and not isinstance(value, str) else value

    return {name: changed(value, name in TIMES) for name, value in found.items()}


def in_units(found: Mapping[str, Any], ticks: int) -> dict[str, Any]:
    """Return a result with times in units.

    Parameters
    ----------
    found : dict
        The result, in ticks.
    ticks : int
        Ticks per unit.

    Examples
    --------
    >>> in_units({"time": 700, "ends": [300, 700], "hops": 3}, 300)
    {'time': Fraction(7, 3), 'ends': [1, Fraction(7, 3)], 'hops': 3}
    """
    if ticks == 1:
        return dict(found)
    return with_times(found, lambda time: units_of(time, ticks))


def units_of(time: int, ticks: int) -> int | Fraction:
    """Return a number of ticks in units, as an int if possible."""
    return Fraction(time, ticks) if time % ticks else time // ticks

"""Regular programs: one script that all processors run, for any number of processors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from mpinet.errors import UsageError
from mpinet.machine.timed.layout import ANY, CALC, RECV, SEND
from mpinet.machine.timed.program import MOST_AMOUNT, MOST_ROWS, Program
from mpinet.machine.timed.scripted import Scripted, shared

MOST_STATEMENTS = 1 << 20
"""Maximum number of operations per processor."""


class ScriptLine(NamedTuple):
    """A statement of the script."""

    kind: int
    """Kind of statement: `CALC`, `SEND` or `RECV`."""
    amount: int
    """Time of a `CALC`, bytes of a `SEND` or `RECV`."""
    needs: Sequence[int] = ()
    """Required statements."""
    off: int = ANY
    """Distance to the other processor along one digit of its number."""
    way: int = 0
    """Digit of the other processor's number that differs, from 1."""


def halo(
    sides: Sequence[int], size: int, rounds: int = 1, calc: int = 0, name: str = "halo"
) -> Scripted:
    """Return a halo exchange: in each round processors compute, then exchange with neighbours.

    Parameters
    ----------
    sides : sequence of int
        Sides of the torus; processors are numbered along the last side first.
    size : int
        Bytes of each message.
    rounds : int
        Number of rounds. A round begins after all sends and receives of the previous round.
    calc : int
        Time to compute in each round.
    name : str
        Name of the program.
    """
    lines = list[ScriptLine]()
    ways = [(way, off) for way, side in enumerate(sides, 1) if side > 1 for off in (-1, 1)]
    require_few(rounds * (1 + 2 * len(ways)))
    for _ in range(rounds):
        first = len(lines)
        lines.append(ScriptLine(CALC, calc, range(max(0, first - 2 * len(ways)), first)))
        lines += [
            ScriptLine(kind, size, [first], off, way) for kind in (SEND, RECV) for way, off in ways
        ]
    return scripted(sides, lines, name)


def dissemination(processors: int, size: int, name: str = "dissemination") -> Scripted:
    """Return a dissemination: in each round processors send twice as far as in the previous one."""
    lines = list[ScriptLine]()
    for turn in range((processors - 1).bit_length()):
        needs = [len(lines) - 1] if lines else []
        lines += [
            ScriptLine(SEND, size, needs, 1 << turn, 1),
            ScriptLine(RECV, size, (), -(1 << turn), 1),
        ]
    return scripted([processors], lines, name)


def shift(processors: int, size: int, rounds: int = 1, name: str = "shift") -> Scripted:
    """Return rounds in which each processor receives from the previous one and then sends on."""
    lines = list[ScriptLine]()
    require_few(2 * rounds)
    for _ in range(rounds):
        needs = range(max(0, len(lines) - 2), len(lines))
        lines += [ScriptLine(SEND, size, needs, 1, 1), ScriptLine(RECV, size, needs, -1, 1)]
    return scripted([processors], lines, name)


def scripted(sides: Sequence[int], lines: Sequence[ScriptLine], name: str) -> Scripted:
    """Return the program of a script for processors on a grid.

    Raises
    ------
    UsageError
        A side or an amount is out of range.
    """
    processors = prod(sides)
    if not 1 <= processors <= MOST_ROWS:
        raise UsageError(f"A program is for 1..{MOST_ROWS} processors, not {processors}.")
    for line in lines:
        if not (line.kind != CALC) <= line.amount <= MOST_AMOUNT:
            raise UsageError("A message has 1..2^48 bytes, and a calc takes 0..2^48 units.")
    counts = [0, *(len(line.needs) for line in lines)]
    needs = [need << 1 for line in lines for need in line.needs]
    rows = len(lines)
    script = Program(
        np.array([0, rows]),
        np.array([line.kind for line in lines], np.int8),
        np.array([line.amount for line in lines], np.int64),
        np.array([line.off for line in lines], np.int32),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.uint32),
        np.cumsum(counts),
        np.array(needs, np.int64),
        np.zeros(rows, np.int64),
        name,
    )
    strides = [prod(sides[place + 1 :]) for place in range(len(sides))]
    ways = np.array([(1, 1), *zip(strides, sides, strict=True)], np.int64)
    way = np.array([line.way for line in lines], np.int32)
    return shared(script, way, ways, np.zeros(processors, np.int32))


def require_few(statements: int) -> None:
    """Raise `UsageError` if a script is too long."""
    if not 1 <= statements <= MOST_STATEMENTS:
        raise UsageError(
            f"At least 1 round is needed, and a processor has at most {MOST_STATEMENTS} "
            f"operations, not {statements}."
        )

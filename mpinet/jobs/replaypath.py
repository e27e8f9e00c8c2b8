"""The critical path of a replay, and the effect of each parameter on the time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mpinet.machine.timed.costs import MOST_COST, Costs
from mpinet.machine.timed.critical_path import KINDS as TIMES
from mpinet.machine.timed.critical_path import Chain
from mpinet.machine.timed.layout import CALC, KINDS, LATEST
from mpinet.machine.timed.program import MOST_AMOUNT, Program
from mpinet.machine.timed.ticks import slower, units_of, with_times
from mpinet.report.rows import Row
from mpinet.report.tables import fields, table

if TYPE_CHECKING:
    from mpinet.machine.timed.run import TimedRun

SHOWN_LINES = 10
"""Number of printed lines of the path, by decreasing time."""

LESS, FASTER = (9, 10), (10, 11)
"""Factors of a time: 10 % less latency, 10 % more bandwidth."""


class Why:
    """Critical path of a run, with the program's processor numbers.

    Parameters
    ----------
    program : Program
        The program, with processor numbers of the network.
    numbers : ndarray of int64
        The program's number of each processor of the network.
    said : sequence of str
        Comment of each operation in the program's file; empty without comments.
    """

    def __init__(self, program: Program, numbers: Any, said: list[str]):
        self._program, self._numbers, self._said = program, numbers, said

    def _owner(self, row: int) -> int:
        return int(np.searchsorted(self._program.first, row, "right")) - 1

    def name(self, row: int) -> str:
        """Return the name of an operation: its comment, its line, or its processors."""
        program = self._program
        if self._said and self._said[row]:
            return self._said[row]
        if program.lines[row]:
            return f"line {program.lines[row]}: {KINDS[int(program.kind[row])]}"
        one = self._numbers[self._owner(row)]
        if program.kind[row] == CALC:
            return f"{one} computes"
        return f"{one} to {self._numbers[int(program.peer[row])]}"

    def fields_of(self, chain: Chain) -> Row:
        """Return the path, and its time by kind and by line."""
        shares, lines = dict.fromkeys(TIMES, 0), dict[str, dict[str, int]]()
        for piece in chain.pieces:
            time = piece.end - piece.begin
            line = lines.setdefault(self.name(piece.row), dict.fromkeys(TIMES, 0))
            line[piece.kind] += time
            shares[piece.kind] += time
        by_time = sorted(lines.items(), key=lambda line: (-sum(line[1].values()), line[0]))
        return {
            "path_shares": shares,
            "path_lines": [
                {"what": what, "time": sum(times.values())} | times for what, times in by_time
            ],
            "critical_path": [*self._pieces(chain)],
        }

    def _pieces(self, chain: Chain) -> Iterator[Row]:
        program = self._program
        for piece in chain.pieces:
            owner = self._owner(piece.row)
            found: Row = {
                "begin": piece.begin,
                "end": piece.end,
                "kind": piece.kind,
                "processor": int(self._numbers[owner]),
                "operation": int(piece.row - program.first[owner]),
                "line": int(program.lines[piece.row]),
            }
            if piece.link is not None:
                found |= {"node": piece.link[0], "port": piece.link[1]}
            if piece.behind is not None:
                found["behind"] = self.name(piece.behind)
            yield found


def followed(run: TimedRun, result: Row, numbers: Any, said: list[str]) -> Row:
    """Return the fields of a run's critical path, and the counts of its parameters (collective).

    Parameters
    ----------
    run : TimedRun
        A finished run, with notes.
    result : dict
        The run's result, with processor numbers of the network.
    numbers : ndarray of int64
        The program's number of each processor of the network.
    said : sequence of str
        Comment of each operation in the program's file; empty without comments.
    """
    from mpinet.machine.timed.moments import Moments, accounts, gathered

    transport, program = run.machine.transport, run.whole
    ends = np.array(result["ends"], np.int64)
    times = accounts(transport, run.notes, program, ends)
    notes = gathered(transport, run.notes)
    told: Row = {}
    if transport.rank == 0:
        network = run.machine.topology if run.routing is not None else None
        last = int(ends.argmax()) if len(ends) else 0
        moments = Moments(notes, program, run.costs)
        chain = Chain(moments, program, run.costs, network, run.routing, last, result["time"])
        told = Why(program, numbers, said).fields_of(chain) | {"counts": dict(chain.counts)}
    # All ranks play the gains. Rank 0 alone has found the path's counts, and shares them.
    shared: Row = json.loads(transport.share(json.dumps(told).encode()))
    return shared | times


def gains(
    counts: dict[str, int],
    costs: Costs,
    program: Program,
    time: int,
    play: Callable[[Costs, Program], int],
) -> list[Row]:
    """Return the effect of 10 % less of each time, or 10 % more of each rate (collective).

    Parameters
    ----------
    counts : dict
        Number of occurrences of each parameter in the path.
    costs, program : Costs, Program
        Costs and program of the finished run.
    time : int
        Time of the finished run.
    play : callable
        Plays a program with other costs; returns the time.
    """
    found = []
    for parameter in sorted(counts):
        cost = _cost(costs, parameter)
        if not cost or not counts[parameter]:
            continue
        few, many = FASTER if "byte" in parameter else LESS
        # A cost that occurs n times in the path saves n times its reduction, as long as the path
        # stays the same.
        expected = (time * many - counts[parameter] * cost * (many - few)) / (many * costs.ticks)
        played = None
        largest = max(costs.latencies + costs.byte_times + _processor(costs))
        most = int(program.amount.max(initial=0))
        fits = largest * many <= MOST_COST and max(time, program.largest * largest) * many <= LATEST
        # A finer tick multiplies all times. If these exceed the machine's limits, only the estimate
        # is reported.
        if fits and most * many <= MOST_AMOUNT * costs.ticks:
            changed = _scaled(costs, parameter, few, many)
            factor = few if parameter == "calc" else many
            played = play(changed, slower(program, factor)) / (many * costs.ticks)
        count = counts[parameter]
        found.append(
            {
                "parameter": parameter,
                "count": units_of(count, costs.ticks) if parameter == "calc" else count,
                "change": f"{few}/{many}",
                "expected": expected,
                "played": played,
            }
        )
    return found


def _processor(costs: Costs) -> tuple[int, ...]:
    return costs.overhead, costs.overhead_byte, costs.gap, costs.gap_byte, costs.flat


def _cost(costs: Costs, parameter: str) -> int:
    """Return the value of a parameter."""
    if parameter == "calc":
        return int(parameter == "calc")
    name, _, kind = parameter.partition(" ")
    if not kind:
        return int(getattr(costs, name))
    listed = costs.latencies if name == "latency" else costs.byte_times
    return listed[min(int(kind), len(listed) - 1)]


def _scaled(costs: Costs, parameter: str, few: int, many: int) -> Costs:
    """Return costs in a unit `many` times finer, with one parameter scaled by `few`/`many`."""

    def listed(name: str, times: tuple[int, ...]) -> tuple[int, ...]:
        # The last class applies to all further classes. They are written out, because each must
        # change separately.
        longer = times + times[-1:] * (classes - len(times))
        return tuple(
            time * (few if parameter == f"{name} {kind}" else many)
            for kind, time in enumerate(longer)
        )

    classes = max(len(costs.latencies), len(costs.byte_times))
    names = ("overhead", "overhead_byte", "gap", "gap_byte", "flat")
    plain = {name: getattr(costs, name) * (few if parameter == name else many) for name in names}
    return replace(
        costs,
        **plain,
        latencies=listed("latency", costs.latencies),
        byte_times=listed("time_byte", costs.byte_times),
        ticks=costs.ticks * many,
    )


def _better(gain: Row) -> str:
    return "less" if gain["change"] == "9/10" else "more bandwidth by"


def why_shown(result: Row, shown: Callable[[float], str]) -> str:
    """Format the critical path: its time by kind and line, gains, and processors.

    Parameters
    ----------
    result : dict
        The result, in units.
    shown : callable
        Formats a time.
    """
    time = result["time"] or 1
    shares = {
        kind: f"{shown(n)} ({100 * n / time:.3g} %)" for kind, n in result["path_shares"].items()
    }
    text = f"critical path\n{fields(shares)}"
    lines = result["path_lines"]
    if lines:
        heading = ["line", *list(lines[0])[1:]]
        rows = [list(with_times(line, shown).values()) for line in lines[:SHOWN_LINES]]
        text += "\n\n" + table(rows, heading)
    if result["gains"]:
        rows = [
            [
                f"10 % {_better(gain)} {gain['parameter'].replace('_', '-')}",
                shown(gain["count"]) if gain["parameter"] == "calc" else gain["count"],
                shown(gain["expected"]),
                None if gain["played"] is None else shown(gain["played"]),
            ]
            for gain in result["gains"]
        ]
        text += "\n\n" + table(rows, ["change", "count", "expected", "played"])
    names = ("computed", "sent", "received", "waited")
    rows = [[name, *(shown(of(result[name])) for of in (sum, min, max))] for name in names]
    return text + "\n\n" + table(rows, ["processors", "together", "least", "most"])

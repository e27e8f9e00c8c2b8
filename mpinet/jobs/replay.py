"""``mpinet replay``: play a program of messages in time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from mpinet.base.arrays import Ints
from mpinet.commands.job import Job, Watch
from mpinet.commands.options import HostOptions
from mpinet.commands.replay import MOST_TRIES, ReplayOptions, replay
from mpinet.errors import UsageError
from mpinet.jobs.recorded import Recorded
from mpinet.jobs.replaypath import followed, gains, why_shown
from mpinet.jobs.replayseveral import InTime, Several, varied
from mpinet.jobs.timing import (
    Timed,
    listed_stuck,
    timed_of,
)
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.layout import NEVER, SEND
from mpinet.machine.timed.program import Program
from mpinet.machine.timed.run import TimedRun
from mpinet.machine.timed.scripted import Scripted, stored
from mpinet.machine.timed.ticks import in_units, slower, with_times
from mpinet.machine.transport import Local
from mpinet.programs.messages.named import is_name, program_named
from mpinet.report.rows import Row
from mpinet.report.tables import fields, table

MOST_LOADS = 1 << 24
"""Largest program, in operations, whose busiest links are broken down by line."""


def prepare(options: ReplayOptions) -> Job:
    """Prepare one setting, or all settings of ``--vary``."""
    settings = varied(options, options.vary, options.plot, replay)
    if not settings[0]:
        return _prepared(options)
    return Several(options, settings, _prepared, options.plot)


def _prepared(options: ReplayOptions) -> Replay:
    """Read the program; raise an error for costs or networks that do not fit."""
    from mpinet.programs.messages.placing import places_of

    timed = timed_of(options)
    topology = timed.topology
    program = _program(options.program, topology.hosts if topology else None)
    places = None
    if topology is not None:
        # The first mapping of a search is the identity, with which the result is compared.
        how = "identity" if options.is_searched else options.place
        places = places_of(how, topology, program.processors, options.seed, searched=True)
    if options.tries is not None and not options.is_searched:
        raise UsageError("--tries applies only with --place search.")
    if not 0 <= options.swaps <= MOST_TRIES:
        raise UsageError(f"--tries is 0..{MOST_TRIES}, not {options.tries}.")
    if program.largest:
        built = isinstance(options.program, Program | Scripted)
        timed.require_byte_cost("replay", "PROGRAM" if built else str(options.program))
    # Costs may be fractions of a unit. Times are counted in ticks, which make every cost a whole
    # number.
    program = slower(program, timed.costs.ticks)
    # A regular program is one script for all processors. Places, searches and paths need separate
    # operations of each processor.
    if places is not None or options.is_searched or options.why:
        program = stored(program)
    answers = timed.costs.eager is not None and program.largest > timed.costs.eager
    # The window of conservative simulation is the lookahead, which is the smallest latency. Without
    # latency the window is empty, which is an error.
    timed.costs.lookahead(topology is None, answers)
    return Replay(options, timed, program, places)


def _program(
    program: str | Path | Program | Scripted, processors: int | None = None
) -> Program | Scripted:
    """Read the program from a file, or make it from its name."""
    from mpinet.programs.messages.goal import read_goal

    if isinstance(program, Program | Scripted):
        return program
    if is_name(str(program)):
        return program_named(str(program), processors)
    return read_goal(Path(program))


def played(
    timed: Timed,
    program: Program | Scripted,
    places: Ints | None,
    options: HostOptions,
    transport: Local,
    watch: Watch,
    noted: bool = False,
) -> tuple[Row, TimedRun]:
    """Play a program in time, with its processors at their places (collective).

    Returns
    -------
    result : dict
        The result in ticks, with processor numbers of the network.
    run : TimedRun
        The run, with notes of all events if requested.
    """
    from mpinet.machine import Machine
    from mpinet.machine.timed.results import result_of
    from mpinet.programs.messages.placing import placed

    network = timed.hosting(program.processors)
    from mpinet.machine.choice import open_mapping

    mapping = open_mapping(options.mapping, network, transport, options.seed)
    machine = Machine(network, "all", transport, mapping, watch=watch)
    moved = program if places is None else placed(stored(program), places, network.hosts)
    run = TimedRun(machine, moved, timed.costs, timed.routing, noted).run()
    return result_of(run), run


def _renamed(result: Row, places: list[int] | None) -> Row:
    """Return a result with the processor numbers of the program."""
    if places is None:
        return result
    # A run uses the network's processor numbers. Users know the program's numbers.
    numbers = {node: number for number, node in enumerate(places)}
    stuck = [
        one
        | {
            "processor": numbers[one["processor"]],
            "waits_for": re.sub(
                r"processor (\d+)",
                lambda found: f"processor {numbers[int(found[1])]}",
                one["waits_for"],
            ),
        }
        for one in result["stuck_operations"]
    ]
    lists = ("ends", "computed", "sent", "received", "waited")
    return result | {
        **{name: [result[name][node] for node in places] for name in lists if name in result},
        "stuck_operations": stuck,
        "first_stuck": [stuck[0]["processor"], stuck[0]["operation"]] if stuck else [],
    }


@dataclass(eq=False, repr=False)
class Replay(InTime):
    """A program of messages on a network, or without one."""

    unit = "windows"

    _options: ReplayOptions
    timed: Timed
    program: Program | Scripted
    _places: Ints | None

    def __post_init__(self) -> None:
        self.topology = self.timed.topology.name if self.timed.topology else None
        self.time_unit = self.timed.unit
        self._file = self._options.file
        # A flat machine has no links to draw, but its processors belong to the hosting network.
        self._recorded = Recorded(self._options, self.timed.hosting(self.program.processors))

    @property
    def title(self) -> str:
        """Name of the run in messages."""
        return f"{self.program.name} in time"

    def run(self, transport: Local, watch: Watch) -> Row:
        """Play the program; with ``--why`` find the critical path."""
        told = self._search(transport, watch) if self._options.is_searched else {}
        why, limits = self._options.why, self._recorded.limits
        noted = why or limits is not None
        where = (self._places, self._options, transport, watch)
        found, run = played(self.timed, self.program, *where, noted)
        self.note_crossing(run.machine)
        self._made, self._ended = run, found["time"]
        if self._options.why:
            found |= self._why(run, found, transport, watch)
        found |= {"busiest_links": self._with_loads(found["busiest_links"], run)}
        places = None if self._places is None else self._places.tolist()
        return in_units(_renamed(found | told, places), self.timed.costs.ticks)

    def _search(self, transport: Local, watch: Watch) -> Row:
        """Search for better places; return the result fields about the search (collective)."""
        from mpinet.programs.messages.placesearch import bound_of_places, search_places

        timed, program, options = self.timed, stored(self.program), self._options
        assert timed.topology is not None  # `_prepared` refuses a search with --flat
        # Ranks share the plays of a search, and each rank plays alone. A collective play would make
        # all ranks wait for each swap.
        one = Local()

        def play(places: Ints) -> tuple[int, int]:
            found, _ = played(timed, program, places, options, one, lambda *done: None)
            return found["time"], found["busy"] + found["waits"]

        found = search_places(program, timed.topology, play, transport, options.seed, options.swaps)
        self._places = found.places
        bound = bound_of_places(program, timed.topology, timed.costs)
        return {
            "places": found.places.tolist(),
            "time_before": found.start,
            "lower_bound": bound.time,
            "lower_by": bound.by,
        }

    def keep(self, transport: Local) -> None:
        """Write the recording, if requested (collective)."""
        limits = self._recorded.limits
        if limits is None:
            return
        import numpy as np

        from mpinet.machine.timed.recorded import record
        from mpinet.machine.trace import Trace

        run, unit, ticks = self._made, self.timed.unit, self.timed.costs.ticks
        name, said_at = self._file.name if self._file else "", run.whole.lines
        said, lines = self._said(said_at), said_at.tolist()

        def place_of(row: int) -> tuple[str, int]:
            return (
                (said[row], 0) if said and said[row] else (name if lines[row] else "", lines[row])
            )

        first, last = (min(time * ticks, NEVER) for time in (limits.first, limits.last))
        # The user gives limits in time units, but notes are in ticks.
        limits = replace(limits, first=first, last=last)
        trace = run.machine.trace = Trace(limits)
        last = run.machine.checked(lambda: record(trace, run, place_of))
        # NICs may be busy longer than any CPU.
        steps = max(self._ended, int(transport.max(np.array([last]))[0]))
        timed = {"steps": steps, "unit": unit} | ({"ticks": ticks} if ticks > 1 else {})
        self._recorded.write(transport, run.machine, {"mode": self._options.mode}, timed)

    def _why(self, run: TimedRun, found: Row, transport: Local, watch: Watch) -> Row:
        """Return the fields of the critical path (collective)."""

        def play(costs: Costs, program: Program) -> int:
            timed = self.timed._replace(costs=costs)
            where = (self._places, self._options, transport, watch)
            return int(played(timed, program, *where)[0]["time"])

        told = followed(run, found, self._numbers(run), self._said(run.whole.lines))
        counts, costs = told.pop("counts"), self.timed.costs
        return told | {"gains": gains(counts, costs, stored(self.program), found["time"], play)}

    def _numbers(self, run: TimedRun) -> Ints:
        """Return the program's number of each processor of the network."""
        import numpy as np

        numbers = np.arange(run.machine.topology.hosts)
        if self._places is not None:
            numbers[self._places] = np.arange(len(self._places))
        return numbers

    def _said(self, lines: Ints) -> list[str]:
        """Return the comments of the file's lines; none without a file."""
        from mpinet.programs.messages.loaders import comments_of

        return [] if self._file is None else comments_of(self._file, lines)

    def _with_loads(self, links: list[Row], run: TimedRun) -> list[Row]:
        """Return the busiest links, each with its largest messages."""
        from mpinet.programs.messages.loaders import loads_of

        timed, routing = self.timed, self.timed.routing
        if not links or "node" not in links[0] or routing is None or routing.numbered:
            return links
        if run.program.operations > MOST_LOADS:
            return links
        moved = run.whole
        said = self._said(moved.lines[moved.kind == SEND])
        loads = loads_of(
            moved,
            run.machine.topology,
            routing,
            [(link["node"], link["port"]) for link in links],
            timed.costs.half_duplex,
            said if all(said) else (),
            self._places,
        )
        return [link | {"loaded_by": load} for link, load in zip(links, loads, strict=True)]

    def shortfall(self, result: Row) -> str:
        """Return the sentence on operations that never end, with their processors."""
        if not result["stuck"]:
            return ""
        return f"{result['stuck']} operations never end:\n" + listed_stuck(
            result["stuck_operations"]
        )

    def show(self, result: Row) -> str:
        """Format the counts, the last processor, and the busiest links."""
        where = self.timed.where
        hidden = ("first_stuck", "path_shares")
        shown = self.timed.shown
        plain = {
            name: value
            for name, value in result.items()
            if name not in hidden and not isinstance(value, list)
        }
        text = f"{self.program.name} on {where}\n{fields(with_times(plain, shown))}"
        if self._options.is_searched:
            gain = 1 - result["time"] / (result["time_before"] or 1)
            text += f"\n\n{100 * gain:.1f} % less than with --place identity"
        if result["busiest_links"]:
            rows = [
                [_loaded(value) if name == "loaded_by" else value for name, value in row.items()]
                for row in (with_times(row, shown) for row in result["busiest_links"])
            ]
            heading = [name.replace("_", " ") for name in result["busiest_links"][0]]
            text += f"\n\n{table(rows, heading)}"
        if self._options.why:
            text += f"\n\n{why_shown(result, shown)}"
        return text


def _loaded(loads: list[Row]) -> str:
    return ", ".join(f"{load['what']}: {load['bytes']}" for load in loads)

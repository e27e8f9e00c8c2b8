"""``mpinet replay``: play a program of messages in time."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from mpinet.commands.fields import Count, Fields, When
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import mapping_of
from mpinet.commands.options import Common, Unsaved
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, Unpack, command
from mpinet.commands.timing import InTime, Timed, timed_of
from mpinet.machine.timed.program import Program
from mpinet.programs.messages.named import is_name
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.base.arrays import Ints
    from mpinet.machine import Machine
    from mpinet.machine.transport import Local

Goal = Annotated[
    str | Path | Program,
    Typed("Program of messages: a GOAL file, or a name of a collective.", metavar="PROGRAM"),
]


class StuckOperation(Fields):
    """An operation that never ends, and what it waits for; line 0 is unknown."""

    processor: Count
    operation: Count
    line: Count
    kind: Literal["calc", "send", "recv"]
    waits_for: str
    waits_line: Count


class Load(Fields):
    """Messages on a link: their line in a script, or their ends, and their bytes."""

    what: str
    bytes: Count


class BusyLink(Fields):
    """Load of a link, or of a bus."""

    node: Annotated[Count, When("on links")]
    port: Annotated[Count, When("on links")]
    bus: Annotated[Count, When("on busses")]
    busy: Count
    bytes: Count
    loaded_by: Annotated[
        list[Load], When("on links, where each message has one way"), "the three largest"
    ]


class ReplayResult(Result):
    """Result of ``replay``."""

    time: Count
    ends: list[Count]
    messages: Count
    hops: Count
    waits: Count
    busy: Count
    busiest: Count
    most_bytes: Count
    unmatched: Count
    stuck: Count
    first_stuck: Annotated[list[Count], "processor and operation, empty if none is"]
    stuck_operations: list[StuckOperation]
    busiest_links: list[BusyLink]


@command(Unsaved, Common)
def replay(
    program: Goal,
    **options: Unpack[InTime],
) -> ReplayResult:
    """Play a program of messages in time (collective).

    Parameters
    ----------
    program : str or Program
        What every processor sends, receives and computes: a GOAL file, one built in Python, or a
        collective of the textbooks by its name,
        COLLECTIVE:ALGORITHM,BYTES[,processors=P][,segment=BYTES][,root=R]; default: all processors
        of the network.

    Examples
    --------
    ``mpinet replay program.goal --on torus:4x4 --latency 50 --time-byte 25GB/s``

    ``mpinet replay allreduce:ring,1MB --on torus:8x8 --latency 500 --time-byte 10GB/s --unit ps``

    >>> import mpinet
    >>> from mpinet.machine.timed.program import Builder
    >>> program = Builder(2)
    >>> sent, got = program.send(0, 1, 100), program.recv(1, 0, 100)
    >>> mpinet.replay(program.done(), on="ring:4", latency=50, time_byte=2, overhead=10).time
    270
    """
    return perform(replay, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Read the program; refuse costs and networks that do not fit it."""
    from mpinet.programs.messages.placing import places_of

    timed = timed_of(options)
    topology = timed.topology
    program = _program(options.program, topology.hosts if topology else None)
    places = None
    if topology is not None:
        places = places_of(options.place, topology, program.processors, options.seed)
    answers = timed.costs.eager is not None and program.largest > timed.costs.eager
    timed.costs.window(topology is None, answers)
    return Replay(options, timed, program, places)


def _program(program: str | Path | Program, processors: int | None = None) -> Program:
    """Read the program, or make it of its name."""
    from mpinet.programs.messages.goal import read_goal
    from mpinet.programs.messages.named import program_named

    if isinstance(program, Program):
        return program
    if is_name(str(program)):
        return program_named(str(program), processors)
    return read_goal(Path(program))


def played(
    timed: Timed,
    program: Program,
    places: Ints | None,
    options: argparse.Namespace,
    transport: Local,
    watch: Watch,
) -> tuple[Row, Machine]:
    """Play a program in time, its processors at their places (collective).

    Returns
    -------
    result : dict
        The result, with the program's own numbers of processors.
    machine : Machine
        The machine on which it was played.
    """
    from mpinet.machine import Machine
    from mpinet.machine.timed.results import result_of
    from mpinet.machine.timed.run import TimedRun
    from mpinet.programs.messages.placing import placed

    network = timed.hosting(program.processors)
    mapping = mapping_of(options, network, transport)
    machine = Machine(network, "all", transport, mapping, watch=watch)
    moved = placed(program, places, network.hosts)
    result = result_of(TimedRun(machine, moved, timed.costs, timed.routing).run())
    return (result if places is None else _renamed(result, places.tolist())), machine


def _renamed(result: Row, places: list[int]) -> Row:
    """Return a result with the numbers that processors have in the program."""
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
    return result | {
        "ends": [result["ends"][node] for node in places],
        "stuck_operations": stuck,
        "first_stuck": [stuck[0]["processor"], stuck[0]["operation"]] if stuck else [],
    }


class Replay(Job):
    """A program of messages on a network, or without one."""

    unit = "windows"

    def __init__(
        self, options: argparse.Namespace, timed: Timed, program: Program, places: Ints | None
    ):
        super().__init__()
        self.topology = timed.topology.name if timed.topology else None
        self._options, self._timed = options, timed
        self._program, self._places = program, places
        named = options.program
        is_file = not isinstance(named, Program) and not is_name(str(named))
        self._file = Path(named) if is_file else None

    @property
    def title(self) -> str:
        """Name of the run in sentences."""
        return f"{self._program.name} in time"

    def run(self, transport: Local, watch: Watch) -> Row:
        """Play."""
        found, machine = played(
            self._timed, self._program, self._places, self._options, transport, watch
        )
        self.note_crossing(machine)
        return found | {"busiest_links": self._with_loads(found["busiest_links"], machine)}

    def _with_loads(self, links: list[Row], machine: Machine) -> list[Row]:
        """Return the busiest links with what loads them."""
        from mpinet.machine.timed.layout import SEND
        from mpinet.programs.messages.loaders import comments_of, loads_of
        from mpinet.programs.messages.placing import placed

        timed, program = self._timed, self._program
        if not links or "node" not in links[0] or timed.routing is None or timed.routing.numbered:
            return links
        moved = placed(program, self._places, machine.topology.hosts)
        said: list[str] = []
        if self._file is not None:
            lines = moved.lines[moved.kind == SEND]
            said = comments_of(self._file, lines)
        loads = loads_of(
            moved,
            machine.topology,
            timed.routing,
            [(link["node"], link["port"]) for link in links],
            timed.costs.half_duplex,
            said if all(said) else (),
            self._places,
        )
        return [link | {"loaded_by": load} for link, load in zip(links, loads, strict=True)]

    def shortfall(self, result: Row) -> str:
        """Return the sentence on operations that never end, with both ends of the first ones."""
        if not result["stuck"]:
            return ""
        lines = [
            f"  processor {one['processor']}, operation {one['operation']}{_line(one['line'])}: "
            f"{one['kind']} waits for {one['waits_for']}{_line(one['waits_line'])}"
            for one in result["stuck_operations"]
        ]
        return f"{result['stuck']} operations never end:\n" + "\n".join(lines)

    def show(self, result: Row) -> str:
        """Format the counts, the last processor, and the busiest links."""
        where = self._timed.where
        hidden = ("ends", "busiest_links", "first_stuck", "stuck_operations")
        shown = {name: value for name, value in result.items() if name not in hidden}
        text = f"{self._program.name} on {where}, in {self._options.unit}\n{fields(shown)}"
        if result["busiest_links"]:
            from mpinet.report.tables import table

            rows = [
                [_loaded(value) if name == "loaded_by" else value for name, value in row.items()]
                for row in result["busiest_links"]
            ]
            heading = [name.replace("_", " ") for name in result["busiest_links"][0]]
            text += f"\n\n{table(rows, heading)}"
        return text


def _loaded(loads: list[Row]) -> str:
    return ", ".join(f"{load['what']}: {load['bytes']}" for load in loads)


def _line(number: int) -> str:
    return f" (line {number})" if number else ""

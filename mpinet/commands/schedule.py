"""``mpinet schedule``: run, check and export schedules as files."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, TypeVar

from mpinet.base.files import require_writable, whole_file
from mpinet.base.memory import bytes_of, require_memory
from mpinet.commands.fields import Count, Positive, When
from mpinet.commands.job import Job, Watch
from mpinet.commands.machinejob import MachineJob
from mpinet.commands.opening import Network, topology_of
from mpinet.commands.options import (
    PORTS,
    Algorithm,
    Common,
    File,
    OnMachine,
    Place,
    Ports,
    Shown,
    Switches,
    Views,
)
from mpinet.commands.perform import perform
from mpinet.commands.pipelineoptimum import require_switches
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, Unpack, command
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import PIPELINED, Collective
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.model import PortModel
    from mpinet.machine.transport import Local
    from mpinet.programs.schedules.files.schedulefile import ScheduleFile as Schedule
    from mpinet.programs.schedules.timetable import Timetable

EXPORTED = tuple(name for name in PIPELINED if name != "exchange")
"""Collectives of many items whose pipelines are exported."""

BYTES_A_ROW, BITS_A_PAIR = 500, 3
"""Bytes that an export holds per row at least, and bits per pair of processors in a reduction."""

NAMES = {"gossip": "allgather", "exchange": "alltoall", "reducescatter": "reduce-scatter"}
"""Names of the collectives in other tools, for the heading of their files."""


class Reading(TypedDict, total=False):
    """Options that say what a schedule's file does not."""

    route: Annotated[bool, Typed("Whether rows go over several hops, by the network's routing.")]
    collective: Annotated[
        Collective | None, Typed("Collective of the schedule, if no header tells.")
    ]
    chunks: Annotated[int | None, Typed("Chunks per unit, likewise.")]
    root: Annotated[Place | None, Typed("Root of the collective, likewise.")]
    bytes: Annotated[int | None, Typed("Bytes per message of GOAL; default: any.")]
    rounds: Annotated[int | None, Typed("Number of times that ForestColl's trees are used.")]
    ports: Annotated[Ports | None, Typed(f"{PORTS} Default: as the file's header says, else one.")]


class Running(OnMachine, Reading, total=False):
    """Machine."""


ScheduleFile = Annotated[File, Typed("Schedule: CSV, NPZ, or in a format of others.")]
Where = Annotated[Network, Typed(words=("--on",), dest="topology")]


T = TypeVar("T")

Carried = Annotated[T, When("of ``run`` and ``check``")]
Written = Annotated[T, When("of ``export``")]


class ScheduleResult(Result):
    """Result of ``schedule run``, ``schedule check`` and ``schedule export``."""

    format: Literal[
        "mpinet",
        "MSCCL",
        "MSCCL++",
        "ForestColl",
        "Chakra",
        "TACOS",
        "TE-CCL",
        "GOAL",
        "csv",
        "npz",
        "msccl",
        "mscclpp",
        "goal",
        "chakra",
    ]
    collective: Annotated[str | None, "null where nobody says it"]
    rows: Count
    steps: Count
    messages: Count
    correct: Annotated[bool | None, "null: data not checked"]
    file: Carried[str]
    algorithm: Written[str]
    items: Annotated[Positive, When("of more than one item")]
    processors: Carried[Count]
    chunks: Carried[Count]
    root: Carried[int | None]
    routed: Carried[bool]
    lower_bound: Carried[int | None]
    lower_by: Carried[str | None]
    races: Annotated[
        str,
        When("of MSCCL-XML, plans of MSCCL++ and Chakra traces that say their chunks"),
        "none; not searched, as they are too large; or the first one",
    ]
    output: Annotated[
        str,
        When("with a wrong output buffer"),
        "the first place with wrong data",
    ]


@command(Views, Common)
def run(file: ScheduleFile, on: Where, **options: Unpack[Running]) -> ScheduleResult:
    r"""Run a schedule from a file (collective).

    Returns
    -------
    Result
        ``--ports`` as in the header, else one. See docs/reference/schedules.

    Raises
    ------
    UsageError
        The file cannot be read, is for another network, or sends what the sender does not hold.
    ModelViolation
        It asks more than the port model allows.

    Examples
    --------
    ``mpinet schedule run gossip.csv --on ring:6``

    ``mpinet schedule run allreduce.xml --on ring:4``

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "path.csv")
    ...     _ = path.write_text("step,from,to,chunk\n1,0,1,0\n2,1,2,0\n")
    ...     run(path, "mesh:3", collective="broadcast", root=0).steps
    2
    """
    return perform(run, locals())


@command(Views, Common)
def check(file: ScheduleFile, on: Where, **options: Unpack[Running]) -> ScheduleResult:
    """Run a schedule from a file, and tell what was checked (collective).

    A notebook shows form, wiring, ports, data and result, each with what was found. The fields and
    errors are those of `run`.

    Examples
    --------
    ``mpinet schedule check gossip.csv --on ring:6``

    ``mpinet schedule check allreduce.xml --on ring:4``

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = export("broadcast", "hypercube:3", out=f"{folder}/cube.csv")
    ...     check(f"{folder}/cube.csv", "hypercube:3").correct
    True
    """
    return perform(check, locals())


@command(Shown)
def export(
    collective: Collective,
    topology: Network,
    *,
    out: Annotated[File, Typed(dest="file")],
    algorithm: Algorithm = None,
    root: Place = 0,
    items: int = 1,
    switches: Switches = "copy",
    ports: Ports = "one",
    format: Literal["csv", "npz", "msccl", "mscclpp", "goal", "chakra"] | None = None,
    bytes: Annotated[int | str | None, Typed(metavar="BYTES")] = None,
) -> ScheduleResult:
    """Write the schedule of a collective, by rank 0 (collective).

    Parameters
    ----------
    collective : str
        Collective whose schedule is written.
    out : str
        File to write: .csv, .npz, .xml (MSCCL), .json (MSCCL++), .goal, or .et (Chakra, a file
        per processor: NAME.0.et, NAME.1.et, ..).
    algorithm : str, optional
        Algorithm, as for the collective's command.
    root : int or str
        Processor where the collective begins or ends, if it has one.
    items : int
        Items in a pipeline: of the root, of each processor, or to be combined.
    format : {'csv', 'npz', 'msccl', 'mscclpp', 'goal', 'chakra'}, optional
        Format of the file; default: by its ending.
    bytes : int or str, optional
        Bytes of a chunk, such as 64kB, in GOAL and Chakra; default: 8.

    Returns
    -------
    Result
        FILE: the schedule.

    Raises
    ------
    UsageError
        The file cannot be written, or there is no such algorithm.

    Examples
    --------
    ``mpinet schedule export gossip ring:6 --out gossip.csv``

    ``mpinet schedule export broadcast torus:4x4 --bytes 1MB --out broadcast.goal``

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = export("gossip", "petersen", out=f"{folder}/p.goal", algorithm="matching")
    >>> written.format, written.rows, written.steps
    ('goal', 90, 9)
    """
    return perform(export, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Read the file, or find what is to be exported."""
    topology = topology_of(options)
    if options.command == "schedule export":
        return _prepare_export(options, topology)
    from mpinet.programs.schedules.files.formats import read_schedule
    from mpinet.programs.schedules.files.schedulefile import ReadingOptions

    for name in ("chunks", "bytes", "rounds"):
        value = getattr(options, name)
        if value is not None and not 1 <= value <= 2**20:
            raise UsageError(f"--{name} is a whole number 1..2^20, not {value}.")
    root = None if options.root is None else topology.find(str(options.root))
    reading = ReadingOptions(
        options.collective,
        options.chunks,
        root,
        topology.hosts,
        options.ports != "all",
        options.duplex == "half",
        options.bytes,
        options.rounds or 1,
        topology,
    )
    read = read_schedule(Path(options.file), reading)
    require_same_network(topology, read)
    ports = options.ports or read.timetable.ports or "one"
    return RunSchedule(argparse.Namespace(**{**vars(options), "ports": ports}), topology, read)


def require_same_network(topology: Topology, read: Schedule) -> None:
    """Raise `UsageError` where a file is for a network of other edges."""
    from mpinet.certify.network import Network

    wanted = read.timetable.edges_sha256
    if wanted is not None and wanted != Network.of(topology).edges_sha256:
        raise UsageError(
            f"{read.name}, header: it was made for {read.timetable.network or 'another network'}: "
            f"the edges of {topology.name} have another sha256. Without edges_sha256 it may run on "
            "any network that has the links."
        )


class RunSchedule(MachineJob):
    """Run of a schedule from a file on a machine, its data checked."""

    def __init__(self, options: argparse.Namespace, network: Topology, read: Schedule):
        super().__init__(options, network)
        self._read = read

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the schedule."""
        from mpinet.programs.perform import perform
        from mpinet.programs.schedules.chunks import UNSTATED
        from mpinet.programs.schedules.files.schedulefile import RIGHT

        machine = self.make_machine(transport, watch)
        read, table = self._read, self._read.timetable
        found = perform(machine, table, self.options.seed, self.options.route, read.where)
        self.note_crossing(machine)
        stated = table.collective != UNSTATED
        return {
            "file": read.name,
            "format": read.format,
            "collective": table.collective if stated else None,
            "processors": table.processors,
            "chunks": table.chunks,
            "root": table.root,
            "rows": len(table),
            "routed": self.options.route,
            "steps": found.steps,
            "messages": found.messages,
            "lower_bound": found.lower_bound,
            "lower_by": None if found.lower_bound is None else found.lower_bound.by,
            "correct": read.judged(found.correct),
            **({} if read.races is None else {"races": read.races}),
            **({"output": read.output} if read.output not in (None, RIGHT) else {}),
        }

    def show(self, result: Row) -> str:
        """Format the counts, or for ``check`` a line per check."""
        name = result["collective"]
        if result["format"] not in ("mpinet", "GOAL"):
            name = NAMES.get(name, name)
        heading = (
            f"{name or 'messages'} on {self.topology} by {result['file']} ({result['format']})"
        )
        data = {True: "yes", False: "NO", None: "data not checked"}[result["correct"]]
        races = {"races": result["races"]} if "races" in result else {}
        if "output" in result:
            races = {"output": result["output"], **races}
        if self.options.command == "schedule check":
            ports = f"kept, {self.options.ports}-port, in {result['steps']} steps"
            carried = "by the routing" if result["routed"] else "every row has its channel"
            held = (
                "data not checked" if result["correct"] is None else "every sender held its chunk"
            )
            return f"{heading}\n" + fields(
                {
                    "form": f"{result['rows']} rows",
                    "wiring": carried,
                    "ports": ports,
                    "data": held,
                    "result": {"yes": "right", "NO": "not right"}.get(data, data),
                    **races,
                }
            )
        counts = {"steps": result["steps"], "messages": result["messages"], "correct": data}
        if result["lower_bound"] is not None:
            counts["lower bound"] = result["lower_bound"]
        return f"{heading}\n{fields(counts | races)}"


def _prepare_export(options: argparse.Namespace, topology: Topology) -> Job:
    """Check the file, its format and the root."""
    from mpinet.machine.timed.program import MOST_AMOUNT
    from mpinet.programs.collective import require_processor
    from mpinet.programs.schedules.files.formats import CHUNK_BYTES, ENDINGS, WRITTEN, silent_on

    file = Path(options.file)
    if options.format is None and file.suffix not in ENDINGS:
        raise UsageError(
            f"--out {file}: the name ends in {', '.join(ENDINGS)}, or --format says what it is."
        )
    require_writable(file)
    root = topology.find(str(options.root))
    require_processor(topology, root)
    needed = BYTES_A_ROW * (topology.hosts - 1)
    if options.collective == "reduce":
        needed += topology.hosts**2 * BITS_A_PAIR // 8
    require_memory(needed, f"A schedule of {options.collective} on {topology.name}")
    format = options.format or ENDINGS[file.suffix]
    if not topology.links and "busses" not in WRITTEN[format].says:
        raise UsageError(
            f"{topology.name} has busses, and "
            f"{silent_on(WRITTEN[format], 'busses', 'what goes over which')}."
        )
    if options.bytes is not None and "bytes" not in WRITTEN[format].says:
        raise UsageError(f"--bytes does not apply: {format} files do not say how long a chunk is.")
    size = CHUNK_BYTES if options.bytes is None else bytes_of(options.bytes)
    if size > MOST_AMOUNT:
        raise UsageError(f"--bytes: a chunk has 1..2^48 bytes, not {size}.")
    require_switches(options)
    if options.items != 1 and options.collective not in EXPORTED:
        raise UsageError(
            f"--items does not apply to {options.collective}: pipelines are for "
            f"{', '.join(EXPORTED)}."
        )
    return ExportSchedule(options, topology, root, format, size)


class ExportSchedule(Job):
    """Export of a collective as a schedule file, written by rank 0."""

    def __init__(
        self, options: argparse.Namespace, network: Topology, root: int, format: str, size: int
    ):
        super().__init__()
        self.topology, self._network = network.name, network
        self._options, self._root, self._format, self._size = options, root, format, size

    def run(self, transport: Local, watch: Watch) -> Row | None:
        """Run the collective on one rank, run what was noted, and write it."""
        from mpinet.certify.network import Network
        from mpinet.machine import Machine, PortModel
        from mpinet.machine.transport import Local as Alone
        from mpinet.programs.perform import perform
        from mpinet.programs.schedules.files.formats import written
        from mpinet.programs.schedules.timetable import with_ports

        model, options = PortModel.named(self._options.ports), self._options
        self.model = model.as_json()
        if transport.rank:
            return None
        name, table = self._found(model)
        found = perform(Machine(self._network, model, Alone()), table)
        if not found.correct:
            raise UsageError(f"The messages of {options.collective} by {name} are no schedule.")
        table = replace(
            with_ports(self._network, table),
            ports=options.ports,
            network=self._network.name,
            edges_sha256=Network.of(self._network).edges_sha256,
        )
        files, path = written(self._format, table, self._size), Path(options.file)
        for number, data in enumerate(files if isinstance(files, list) else [files]):
            own = path.with_suffix(f".{number}.et") if isinstance(files, list) else path
            with whole_file(own) as file:
                file.write(data)
        items = {"items": options.items} if options.items > 1 else {}
        return {
            "collective": options.collective,
            **items,
            "algorithm": name,
            "format": self._format,
            "rows": len(table),
            "steps": found.steps,
            "messages": found.messages,
            "correct": found.correct,
        }

    def _found(self, model: PortModel) -> tuple[str, Timetable]:
        """Find the algorithm, and its schedule."""
        from mpinet.programs.pipelines.together import scheduled

        options, parts = self._options, self._format not in ("msccl", "mscclpp")
        whole = options.collective, options.items, self._root, options.algorithm, options.switches
        return scheduled(self._network, model, *whole, parts)

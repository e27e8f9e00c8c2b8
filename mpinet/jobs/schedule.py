"""``mpinet schedule``: run, check and export schedules as files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpinet.base.files import require_writable, whole_file
from mpinet.base.memory import bytes_of, require_memory
from mpinet.commands.job import Job, NetworkJob, Watch
from mpinet.commands.options import Ports
from mpinet.commands.schedule import FileOptions, ScheduleExportOptions
from mpinet.errors import UsageError
from mpinet.jobs.machinejob import MachineJob
from mpinet.jobs.opening import topology_named
from mpinet.jobs.optimum import require_switches
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import PIPELINED, UNSTATED
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.model import PortModel
    from mpinet.machine.transport import Local
    from mpinet.programs.schedules.files.schedulefile import ScheduleFile as Schedule
    from mpinet.programs.schedules.timetable import Timetable


EXPORTED = tuple(name for name in PIPELINED if name != "exchange")
"""Collectives of many items whose pipelines can be exported."""


BYTES_A_ROW, BITS_A_PAIR = 500, 3
"""Smallest memory of an export: bytes per row, and bits per pair of processors in a reduction."""


NAMES = {"gossip": "allgather", "exchange": "alltoall", "reducescatter": "reduce-scatter"}
"""Names of the collectives in other tools, for the headers of their files."""


def prepare(options: FileOptions | ScheduleExportOptions) -> Job:
    """Read the schedule to run, or find the collective to export, and return the job."""
    if isinstance(options, ScheduleExportOptions):
        return _prepare_export(options, topology_named(options.topology))
    from mpinet.programs.schedules.files.formats import read_schedule
    from mpinet.programs.schedules.files.schedulefile import ReadingOptions

    topology = topology_named(options.on)

    for name in ("chunks", "bytes", "rounds"):
        value = vars(options)[name]
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
    ports: Ports = "all" if (options.ports or read.timetable.ports) == "all" else "one"
    return RunSchedule(replace(options, ports=ports), topology, read)


def require_same_network(topology: Topology, read: Schedule) -> None:
    """Raise `UsageError` if a file is for a network with other edges."""
    from mpinet.certify.network import Network

    wanted = read.timetable.edges_sha256
    if wanted is not None and wanted != Network.of(topology).edges_sha256:
        raise UsageError(
            f"{read.name}, header: made for {read.timetable.network or 'another network'}: the "
            f"edges of {topology.name} have another SHA-256. Without edges_sha256 it runs on any "
            "network with the same links."
        )


@dataclass(eq=False, repr=False)
class RunSchedule(MachineJob):
    """Run of a schedule from a file on a machine, with a check of the data."""

    options: FileOptions

    _read: Schedule

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the schedule on the machine, and return the result row."""
        from mpinet.programs.playing import perform
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
        """Format the counts, or for ``check`` one line per check."""
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


def _prepare_export(options: ScheduleExportOptions, topology: Topology) -> Job:
    """Check the file, its format and the root."""
    from mpinet.machine.timed.program import MOST_AMOUNT
    from mpinet.programs.collective import require_processor
    from mpinet.programs.schedules.files.formats import CHUNK_BYTES, ENDINGS, WRITTEN, silent_on

    file = Path(options.out)
    if options.format is None and file.suffix not in ENDINGS:
        raise UsageError(
            f"--out {file}: the file name must end in {', '.join(ENDINGS)}, or give --format."
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
        raise UsageError(f"--bytes does not apply: {format} files have no chunk sizes.")
    size = CHUNK_BYTES if options.bytes is None else bytes_of(options.bytes)
    if size > MOST_AMOUNT:
        raise UsageError(f"--bytes is 1..2^48, not {size}.")
    require_switches(options.collective, options.switches)
    if options.items != 1 and options.collective not in EXPORTED:
        raise UsageError(
            f"--items does not apply to {options.collective}: pipelines are for "
            f"{', '.join(EXPORTED)}."
        )
    return ExportSchedule(topology, options, root, format, size)


@dataclass(eq=False, repr=False)
class ExportSchedule(NetworkJob):
    """Export of a collective as a schedule file, written by rank 0."""

    _options: ScheduleExportOptions
    _root: int
    _format: str
    _size: int

    def run(self, transport: Local, watch: Watch) -> Row | None:
        """Run the collective on one rank, check its recorded schedule by a run, and write it."""
        from mpinet.certify.network import Network
        from mpinet.machine import Machine, PortModel
        from mpinet.machine.transport import Local as Alone
        from mpinet.programs.playing import perform
        from mpinet.programs.schedules.files.formats import written
        from mpinet.programs.schedules.timetable import with_ports

        model, options = PortModel.named(self._options.ports), self._options
        self.model = model.as_json()
        # The search is not distributed, because every rank would find the same schedule.
        if transport.rank:
            return None
        name, table = self._found(model)
        found = perform(Machine(self.network, model, Alone()), table)
        # A schedule is run before it is written. Every written row is valid on a machine.
        if not found.correct:
            raise UsageError(f"The messages of {options.collective} by {name} form no schedule.")
        table = replace(
            with_ports(self.network, table),
            ports=options.ports,
            network=self.network.name,
            edges_sha256=Network.of(self.network).edges_sha256,
        )
        files, path = written(self._format, table, self._size), Path(options.out)
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
        """Return the algorithm's name and its schedule."""
        from mpinet.programs.pipelines.together import WantedCollective

        # MSCCL's formats cannot express a part of a sum, so their allreduce sends whole sums.
        options, parts = self._options, self._format not in ("msccl", "mscclpp")
        whole = options.collective, options.items, options.algorithm, options.switches
        return WantedCollective(model, *whole, parts).scheduled(self.network, self._root)

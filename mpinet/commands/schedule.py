"""``mpinet schedule``: run, check and export schedules as files."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal, TypeVar

from mpinet.commands.fields import Count, Positive, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, File, Options, Shown, Typed, Views
from mpinet.commands.options import PORTS, Algorithm, MachineOptions, Place, Ports, Switches
from mpinet.commands.result import Result
from mpinet.programs.kinds import Collective

ScheduleFile = Annotated[File, Typed("Schedule: CSV, NPZ, or a format of another tool.")]


Where = Annotated[Network, Typed(words=("--on",))]


@dataclass(frozen=True)
class FileOptions(MachineOptions):
    """Schedule: file, network and values of the file's header."""

    file: ScheduleFile
    on: Where
    _: KW_ONLY
    route: Annotated[
        bool, Typed("Whether to route rows over several hops, with the network's routing.")
    ] = False
    collective: Annotated[
        Collective | None, Typed("Collective of the schedule; default: from the header.")
    ] = None
    chunks: Annotated[int | None, Typed("Chunks per unit; default: from the header.")] = None
    root: Annotated[Place | None, Typed("Root of the collective; default: from the header.")] = None
    bytes: Annotated[int | None, Typed("Bytes per message of GOAL; default: any.")] = None
    rounds: Annotated[int | None, Typed("Number of rounds over ForestColl's trees.")] = None
    ports: Annotated[Ports | None, Typed(f"{PORTS} Default: from the header, else one.")] = None


WrittenFormat = Literal["csv", "npz", "msccl", "mscclpp", "goal", "chakra"]


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
        WrittenFormat,
    ]
    collective: Annotated[str | None, "null if unknown"]
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
        When("of MSCCL-XML, MSCCL++ plans, and Chakra traces with chunks"),
        "none; not searched (too large); or the first race",
    ]
    output: Annotated[
        str,
        When("with a wrong output buffer"),
        "the first place with wrong data",
    ]


@dataclass(frozen=True)
class ScheduleRunOptions(FileOptions):
    r"""Run a schedule from a file (collective).

    Returns
    -------
    Result
        ``--ports`` defaults to the file's header, else one. See docs/reference/schedules.

    Raises
    ------
    UsageError
        The file cannot be read, belongs to another network, or sends chunks that the sender lacks.
    ModelViolation
        A step exceeds the port model.

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

    command = "schedule run"
    columns: ClassVar = {"on": "topology"}


run = function_with(ScheduleRunOptions, ScheduleResult, Views, Common)


@dataclass(frozen=True)
class ScheduleCheckOptions(FileOptions):
    """Run a schedule from a file, and report each check (collective).

    A notebook shows the checks of form, wiring, ports, data and result, each with its finding.
    Fields and errors are those of `run`.

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

    command = "schedule check"
    columns: ClassVar = {"on": "topology"}


check = function_with(ScheduleCheckOptions, ScheduleResult, Views, Common)


@dataclass(frozen=True)
class ScheduleExportOptions(Options):
    """Write the schedule of a collective, by rank 0 (collective).

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

    command = "schedule export"
    columns: ClassVar = {"out": "file"}
    collective: Collective
    """Collective whose schedule is written."""
    topology: Network
    _: KW_ONLY
    out: File
    """File to write: .csv, .npz, .xml (MSCCL), .json (MSCCL++), .goal, or .et (Chakra, one file per
    processor: NAME.0.et, NAME.1.et and so on)."""
    algorithm: Algorithm = None
    """Algorithm, as for the collective's command."""
    root: Place = 0
    """Processor where the collective starts or ends, if there is a root."""
    items: int = 1
    """Items in a pipeline: of the root, of each processor, or combined."""
    switches: Switches = "copy"
    ports: Ports = "one"
    format: WrittenFormat | None = None
    """Format of the file; default: from its ending."""
    bytes: Annotated[int | str | None, Typed(metavar="BYTES")] = None
    """Bytes of a chunk in GOAL and Chakra files, such as 64kB; default: 8."""


export = function_with(ScheduleExportOptions, ScheduleResult, Shown)

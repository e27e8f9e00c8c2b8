"""The results of the commands: their fields, with their types.

The one place where fields are spelt: a type checker reads them here, completion offers them, and
the JSON schema of documents (docs/reference/document.schema.json) is made of them. A field that is
not there in every result is a `Maybe`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from mpinet.commands.fields import Fields, Maybe
from mpinet.commands.result import ListResult, Result

Count: TypeAlias = Annotated[int, ("minimum", 0)]
Positive: TypeAlias = Annotated[int, ("minimum", 1)]
Hash: TypeAlias = Annotated[str, ("pattern", "^[0-9a-f]{64}$")]
Ports: TypeAlias = Literal["one", "all"]


class NetworkRow(Fields):
    """A network with its sizes and distances."""

    topology: str
    processors: Count
    switches: Count
    links: Count
    degree: Count
    diameter: Count | None
    moore: Count | None
    average_distance: float | None
    cost: Count | None


class FindResult(ListResult[NetworkRow]):
    """Result of ``find``."""


class TopologiesRow(Fields):
    """A family, or the network of a family that has so many processors."""

    name: str
    parameters: Maybe[str]
    range: Maybe[str]
    example: Maybe[str]
    paper: Maybe[str]
    specification: Maybe[str]
    topology: Maybe[str]
    processors: Maybe[Count]
    switches: Maybe[Count]
    links: Maybe[Count]
    degree: Maybe[Count]
    diameter: Maybe[Count | None]
    moore: Maybe[Count | None]
    average_distance: Maybe[float | None]
    cost: Maybe[Count | None]

    kinds_: ClassVar = (
        ("parameters", "range", "example", "paper", "specification"),
        tuple(NetworkRow.__annotations__),
    )


class TopologiesResult(ListResult[TopologiesRow]):
    """Result of ``topologies``."""


class ShowResult(Result):
    """Result of ``show``."""

    size: Count
    ports: Count
    links: Count
    degree_histogram: dict[str, Count]
    edges_sha256: Hash
    stated: dict[str, Any]
    hosts: Maybe[Count]
    busses: Maybe[Count]
    incidence_sha256: Maybe[Hash]
    diameter: Maybe[Count]
    distance_sum: Maybe[Count]
    average_distance: Maybe[float]
    host_diameter: Maybe[Count]
    host_distance_sum: Maybe[Count]
    average_host_distance: Maybe[float]


class CheckResult(Result):
    """Result of ``check``."""

    topology: str
    nodes: Count
    ports: Count
    exhaustive: bool
    addresses: Count
    routes: Count


class NeighborRow(Fields):
    """A port of a node."""

    port: Count
    neighbor: Count | None
    reverse_port: Count | None
    channel: Count | None
    address: str | None


class NeighborsResult(ListResult[NeighborRow]):
    """Result of ``neighbors``."""


class PathResult(Result):
    """Result of ``path``."""

    nodes: list[Count]
    ports: list[Count]
    addresses: list[str]
    hops: Count
    header_bits: Count
    routing: str


class Latency(Fields):
    """Steps that messages took; null without messages."""

    mean: float | None
    p50: Count | None
    p99: Count | None
    max: Count | None


class LinkLoad(Fields):
    """Messages over a link."""

    max: Count
    mean: float


class RouteResult(Result):
    """Result of ``route``."""

    messages: Count
    delivered: Count
    undeliverable: Count
    steps: Count
    hops_total: Count
    hops_max: Count
    latency: Latency
    queue_max: Count
    link_load: LinkLoad | None
    routing: str
    paths_sha256: Maybe[Hash]


class StuckOperation(Fields):
    """An operation that never ends, and what it waits for; line 0 is unknown."""

    processor: Count
    operation: Count
    line: Count
    kind: Literal["calc", "send", "recv"]
    waits_for: str
    waits_line: Count


class BusyLink(Fields):
    """Load of a link, or of a bus."""

    node: Maybe[Count]
    port: Maybe[Count]
    bus: Maybe[Count]
    busy: Count
    bytes: Count


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
    first_stuck: list[Count]
    stuck_operations: list[StuckOperation]
    busiest_links: list[BusyLink]


class FloodResult(Result):
    """Result of ``flood``."""

    steps: Count
    messages: Count
    informed: Count
    eccentricity: Count


class Phase(Fields):
    """A part of a collective."""

    name: str
    steps: Count


class BroadcastResult(Result):
    """Result of ``broadcast``."""

    algorithm: str
    steps: Count
    messages: Count
    informed: Count
    phases: list[Phase]
    lower_bound: Count | None
    lower_by: str
    schedule_sha256: Maybe[Hash]
    items: Maybe[Positive]
    bandwidth: Maybe[tuple[Positive, Positive] | None]
    correct: Maybe[bool]


class CollectiveResult(Result):
    """Result of ``gossip``, ``scatter``, ``gather``, ``exchange`` and ``circulate``."""

    algorithm: str
    steps: Count
    messages: Count
    lower_bound: Count | None
    lower_by: str
    correct: bool
    phases: list[Phase]
    items: Maybe[Positive]
    bandwidth: Maybe[tuple[Positive, Positive] | None]


class ReduceResult(CollectiveResult):
    """Result of ``reduce`` and ``allreduce``; the field ``value`` is ``result["value"]``."""

    operator: str

    beside_: ClassVar = {"value": int}


class ProgramResult(Result):
    """Result of ``ascend`` and ``descend``."""

    operator: str
    algorithm: str
    elements: Count
    steps: Count
    correct: bool
    phases: list[Phase]


class EmbedResult(Result):
    """Result of ``embed``."""

    guest: str
    host: str
    routing: str
    dilation: Count
    route_length: Count
    congestion: Count
    expansion: float
    program: str
    operator: str | None
    guest_steps: Count
    host_steps: Count
    slowdown: float | None
    correct: bool


class Unreceived(Fields):
    """Messages that a processor has not received."""

    processor: Count
    messages: Count


class RunResult(Result):
    """Result of ``run``."""

    program: str
    processors: Count
    steps: Count
    messages: Count
    unreceived: Count
    unreceived_at: list[Unreceived]
    values: list[Any]


class Cost(Fields):
    """Cost of a kind of MPI call."""

    call: str
    calls: Count
    messages: Count
    hops: Count
    bytes: Count
    steps: Count


class LineCost(Cost):
    """Cost of the calls on a line of a script."""

    file: str
    line: Count


class ConflictRow(Fields):
    """Accesses to a window's memory that conflict in one epoch."""

    accesses: str
    processor: Count
    bytes: list[Count]
    times: Positive
    first_file: str
    first_line: Count
    other_file: str
    other_line: Count


class ExecResult(Result):
    """Result of ``exec``."""

    script: str
    processors: Count
    steps: Count
    messages: Count
    hops: Count
    bytes: Count
    unreceived: Count
    unreceived_at: list[Unreceived]
    output_sha256: Hash
    kinds: list[Cost]
    calls: list[LineCost]
    conflicts: Maybe[list[ConflictRow]]


class LoadPoint(Fields):
    """A run of open-loop traffic at one rate (docs/reference/traffic)."""

    rate: float
    steps: Count
    closed: Count
    generated: Count
    generated_flits: Count
    accepted: Count
    accepted_flits: Count
    delivered: Count
    undeliverable: Count
    unfinished: Count
    latency_sum: Count
    network_latency_sum: Count
    hops_sum: Count
    latency_max: Count | None
    latency_p50: Count | None
    latency_p95: Count | None
    latency_p99: Count | None
    loads_sum: Count
    loads_max: Count
    moves: Count
    backlog_before: Count
    backlog_after: Count
    source_queue_max: Count
    node_flits_max: Count
    stuck_flits: Count
    deadlock: bool
    last_move: int
    cycle: list[list[int]]
    cycle_messages: list[list[int]]
    batches: list[list[int]]
    seal: int
    offered: float
    throughput: float
    latency_mean: float | None
    latency_ci95: float | None
    network_latency_mean: float | None
    hops_mean: float | None
    utilisation_mean: float | None
    utilisation_max: float | None
    jain: float | None
    saturated: bool
    warmup: Maybe[Count]
    warmup_found: Maybe[bool]
    window: Maybe[Positive]
    converged: Maybe[bool]


class SaturationSearch(Fields):
    """Rates between which a network saturates, found by bisection."""

    stable: float | None
    saturated: float | None
    runs: Count


class BetweenSeeds(Fields):
    """Means over the seeds of a rate, and half the widths of their 95 % intervals."""

    network: str
    routing: str
    pattern: str
    vcs: Maybe[Count]
    flits: Maybe[Any]
    buffers: Maybe[Count]
    rate: float
    seeds: Positive
    saturated: Count
    throughput: float | None
    throughput_ci95: float | None
    latency: float | None
    latency_ci95: float | None


class LoadCurve(Fields):
    """A network's runs, by rising rate."""

    network: str
    routing: str
    classes: str
    vcs: Count
    bound: float | None
    better_routing: str | None
    saturation_point: float | None
    saturation_throughput: float | None
    points: list[LoadPoint]
    pattern: Maybe[str]
    seed: Maybe[Count]
    flits: Maybe[Any]
    buffers: Maybe[Count]
    saturation: Maybe[SaturationSearch]


class LoadResult(Result):
    """Result of ``load``."""

    curves: list[LoadCurve]
    between_seeds: Maybe[list[BetweenSeeds]]


class MostLoaded(Fields):
    """Messages over the busiest link of a picture."""

    max: float


class DrawResult(Result):
    """Result of ``draw``."""

    nodes: Count
    links: Count
    busses: Count
    routes: list[list[Count]]
    load: Maybe[MostLoaded]


class FailedPoint(Fields):
    """A point of a sweep, with the sentence on its failure."""

    point: str
    error: str


class SweepResult(Result):
    """Result of ``sweep``."""

    points: Count
    share: Count
    computed: Count
    left: Count
    damaged_lines: Count
    failed: list[FailedPoint]
    rows: Count
    csv_sha256: Hash


class PlotPoint(Fields):
    """A dot of a curve, with the ends of its bar, and the rows that it is the mean of."""

    x: float | str | bool
    y: float
    low: float
    high: float
    count: Count
    hollow: Maybe[bool]


class PlotCurve(Fields):
    """A curve of a plot."""

    panel: str
    label: str
    points: list[PlotPoint]
    tick: Maybe[float]


class PlotResult(Result):
    """Result of ``plot``."""

    rows: Count
    failed: Count
    without_value: Count
    curves: list[PlotCurve]


class Range(Fields):
    """Range in which a number is known to lie: not below `lower`, and not above `upper`."""

    lower: Count
    upper: Count


class CompareRow(Fields):
    """A network's measures; null where one is left out."""

    topology: str
    processors: Count
    switches: Count
    links: Count
    degree: Count | None
    diameter: Count | None
    moore: Count | None
    average_distance: float | None
    bisection: Range | None
    connectivity: Count | None
    degree_diameter: Count | None
    links_diameter: Count | None
    traffic_density: float | None
    vertex_transitive: bool | None
    broadcast: Count | None
    gossip: Count | None
    exchange: Count | None
    ascend: Count | None
    optimum: Maybe[Range | None]
    saturation: Maybe[float | None]
    left_out: dict[str, str]


class CompareResult(ListResult[CompareRow]):
    """Result of ``compare``."""


class MeasureResult(Result):
    """Result of ``measure``; the field ``value`` is ``result["value"]``."""

    measure: str
    arguments: dict[str, Any]

    beside_: ClassVar = {"value": Any}


class TraceResult(Result):
    """Result of ``trace``."""

    format: Literal["perfetto", "paje", "csv"]
    command: Any
    steps: Count
    movements: Count
    calls: Count


class PlayResult(Result):
    """Result of ``play``."""

    command: Any
    nodes: Count
    steps: Count
    movements: Count
    calls: Count


class Refusal(Fields):
    """A certificate of the search that the checker refuses."""

    lower: Positive
    by: str
    reason: str


class OptimumResult(Result):
    """Result of ``optimum``, of a collective or of ``bisection``."""

    network: str
    edges_sha256: Hash
    lower: Count
    upper: Count
    exact: bool
    lower_by: str | None
    upper_by: str
    bounds: dict[str, Count | None]
    seconds: float
    collective: Maybe[str]
    items: Maybe[Positive]
    root: Maybe[Count | None]
    ports: Maybe[Ports]
    own: Maybe[Count | None]
    own_algorithm: Maybe[str | None]
    classes: Maybe[Any]
    messages: Maybe[Count]
    correct: Maybe[bool]
    measure: Maybe[Literal["bisection"]]
    side: Maybe[list[Count]]
    refused: Maybe[list[Refusal]]

    kinds_: ClassVar = (
        ("collective", "root", "ports", "own", "own_algorithm", "classes", "messages", "correct"),
        ("measure", "side"),
    )


class CertifyResult(Result):
    """Result of ``certify``, of a collective or of a bisection width."""

    network: str
    edges_sha256: Hash
    kind: str
    more_than: int
    verified: bool
    collective: Maybe[str]
    items: Maybe[Positive]
    ports: Maybe[Ports]
    root: Maybe[Count | None]
    measure: Maybe[Literal["bisection"]]
    parted: Maybe[Count]
    medium: Maybe[Literal["links", "busses"]]

    kinds_: ClassVar = (("collective", "ports", "root"), ("measure", "parted", "medium"))


class ScheduleResult(Result):
    """Result of ``schedule run``, ``schedule check`` and ``schedule export``."""

    format: Literal["mpinet", "MSCCL", "ForestColl", "GOAL", "csv", "npz", "msccl", "goal"]
    collective: str | None
    rows: Count
    steps: Count
    messages: Count
    correct: bool | None
    file: Maybe[str]
    algorithm: Maybe[str]
    items: Maybe[Positive]
    processors: Maybe[Count]
    chunks: Maybe[Count]
    root: Maybe[int | None]
    routed: Maybe[bool]
    lower_bound: Maybe[int | None]
    lower_by: Maybe[str | None]


class GeneratedResult(Result):
    """Result of ``schedule generate``."""

    processors: Positive
    operations: Count
    messages: Count
    bytes: Count


class VerifyRow(Fields):
    """A claim; with its verdict, unless claims are only listed."""

    id: str
    paper: str
    place: str
    statement: str
    relation: str
    range: str
    claimed: Maybe[Any]
    measured: Maybe[Any]
    points: Maybe[Count]
    verdict: Maybe[str]
    witness: Maybe[Any]
    replay: Maybe[Any]
    reason: Maybe[Any]
    seconds: Maybe[float]
    cause: Maybe[Any]


class VerifyResult(ListResult[VerifyRow]):
    """Result of ``verify``."""


class Memory(Fields):
    """Bytes of a process: at most, and before the run."""

    peak: Count
    before: Count


class PredictResult(Result):
    """Result of ``predict``."""

    rank: Count
    ranks: Count
    processors: Count
    steps: Count
    messages: Count
    bytes: Count
    memory: Memory
    seconds: dict[str, float]


class BenchRow(Fields):
    """A workload, with the figure that was measured."""

    name: str
    workload: str
    figure: float | None
    unit: str


class BenchResult(ListResult[BenchRow]):
    """Result of ``bench``."""

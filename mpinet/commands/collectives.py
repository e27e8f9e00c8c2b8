"""Commands of the collectives.

Each is a function, whose signature says what it takes, and a row of the table in
`mpinet.commands.algorithms`, which says how it is run.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar

from mpinet.commands.algorithms import COLLECTIVES, algorithm_help
from mpinet.commands.ascend import Pairing
from mpinet.commands.fields import (
    Count,
    GroupFound,
    Hash,
    Phase,
    Positive,
    Skipped,
    When,
    hints_of,
    plain_of,
)
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Typed
from mpinet.commands.options import (
    CollectiveOptions,
    Common,
    File,
    ItemOptions,
    ManyOptions,
    Operator,
    Place,
    ReductionOptions,
    RootedOptions,
    RoutingName,
    SavedOften,
    Views,
)
from mpinet.commands.result import Result

__all__ = [
    "allgather",
    "allreduce",
    "alltoall",
    "bcast",
    "broadcast",
    "circulate",
    "exchange",
    "gather",
    "gossip",
    "reduce",
    "reduce_scatter",
    "reducescatter",
    "scatter",
]

One = Annotated[Place, Typed("Processor that has all items, or gets them: a number or an address.")]


SEVERAL = When("of several items, of groups, with faults, or through switches that forward,")


class CollectiveResult(Result):
    """Result of a collective; the table of `mpinet.commands.algorithms` says which fields it has.

    The field ``value`` is ``result["value"]``.
    """

    items: Annotated[Positive, SEVERAL]
    operator: str
    algorithm: str
    steps: Count
    messages: Count
    informed: Count
    lower_bound: Count | None
    lower_by: Annotated[str, "as of ``broadcast``"]
    correct: bool
    phases: list[Phase]
    by_orbit: Annotated[
        bool,
        When("by ``translations``"),
        "whether one processor's messages were checked, and stand for all",
    ]
    skipped: Skipped
    schedule_sha256: Annotated[
        Hash, When("with ``--schedule``, or ``--schedule-out``, which writes the hashed lines,")
    ]
    bandwidth: Annotated[
        tuple[Positive, Positive] | None, SEVERAL, "so many items in so many steps"
    ]
    intact_steps: Annotated[Count, When("with ``--faults``"), "steps without the faults"]
    intact_bound: Annotated[Count | None, When("with ``--faults``"), "their lower bound"]
    groups: Annotated[list[GroupFound], When("of several groups"), "what each takes alone"]

    beside_: ClassVar = {"value": Annotated[int, "of item 0, 0..2^64-1"]}

    @classmethod
    def hints_for(cls, command: str) -> dict[str, Any]:
        """Return the types of the fields that a collective has, in their order."""
        # A result is hashed by its digest, so that mypy takes the class for one without a hash.
        kind: Any = cls
        row, hints = COLLECTIVES[command], hints_of(kind)
        some = {name for each in COLLECTIVES.values() for name in each.shows} - {*row.shows}
        found = {name: hint for name, hint in hints.items() if name not in some}
        found |= {name: Annotated[found[name], SEVERAL] for name in row.hides}
        notes = {name: Annotated[plain_of(hints[name]), note] for name, note in row.notes.items()}
        return found | notes


@dataclass(frozen=True)
class BroadcastOptions(RootedOptions, ItemOptions):
    """Broadcast from one processor (collective).

    Examples
    --------
    ``mpinet broadcast torus:8x8``

    ``mpinet broadcast gmn:4,32 --root 5 --play broadcast.html``

    >>> import mpinet
    >>> mpinet.broadcast("torus:8x8x8").steps
    12
    """

    command = "broadcast"
    _: KW_ONLY
    root: Place = 0
    """Processor where it starts: a number or an address."""
    algorithm: Annotated[str | None, Typed(algorithm_help("broadcast"), metavar="NAME")] = None
    schedule: bool = False
    """Give the schedule's sha256, too."""
    schedule_out: File | None = None
    """File for the lines that ``schedule`` hashes."""
    items: int = 1
    """Items of the root, sent in a pipeline where there are more than one."""

    @property
    def is_scheduled(self) -> bool:
        """True if the schedule or its hash is asked for."""
        return self.schedule or self.schedule_out is not None


broadcast = function_with(BroadcastOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class GossipOptions(ItemOptions):
    """Bring every processor's item to all processors (collective).

    Examples
    --------
    ``mpinet gossip torus:8x8``

    ``mpinet gossip hypercube:4 --ports all --items 8``

    >>> import mpinet
    >>> mpinet.gossip("petersen", ports="all", algorithm="rarest").steps
    3
    """

    command = "gossip"
    _: KW_ONLY
    algorithm: Annotated[str | None, Typed(algorithm_help("gossip"), metavar="NAME")] = None
    items: int = 1
    """Items of every processor, sent in a pipeline where there are more than one."""


gossip = function_with(GossipOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class ScatterOptions(RootedOptions):
    """Bring a different item from one processor to every other (collective).

    Examples
    --------
    ``mpinet scatter torus:8x8``

    ``mpinet scatter hypercube:4 --root 5 --ports all``

    >>> import mpinet
    >>> mpinet.scatter("ring:8").correct
    True
    """

    command = "scatter"
    _: KW_ONLY
    root: One = 0
    algorithm: Annotated[str | None, Typed(algorithm_help("scatter"), metavar="NAME")] = None


scatter = function_with(ScatterOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class GatherOptions(RootedOptions):
    """Bring an item from every processor to one (collective).

    Examples
    --------
    ``mpinet gather torus:8x8``

    ``mpinet gather hypercube:4 --root 5 --ports all``

    >>> import mpinet
    >>> mpinet.gather("ring:8").correct
    True
    """

    command = "gather"
    _: KW_ONLY
    root: One = 0
    algorithm: Annotated[str | None, Typed(algorithm_help("gather"), metavar="NAME")] = None


gather = function_with(GatherOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class ExchangeOptions(ManyOptions):
    """Bring a different item from every processor to every other (collective).

    Examples
    --------
    ``mpinet exchange torus:8x8``

    ``mpinet exchange hypercube:4 --ports all --algorithm farthest``

    >>> import mpinet
    >>> mpinet.exchange("hypercube:3").correct
    True
    """

    command = "exchange"
    _: KW_ONLY
    routing: RoutingName = None
    algorithm: Annotated[str | None, Typed(algorithm_help("exchange"), metavar="NAME")] = None
    items: int = 1
    """Items from every processor to every other; more than one go by ``farthest``."""


exchange = function_with(ExchangeOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class ReduceOptions(RootedOptions, ReductionOptions):
    """Combine the items of all processors at one (collective).

    Examples
    --------
    ``mpinet reduce torus:8x8 --operator sum``

    ``mpinet reduce hypercube:4 --items 8 --ports all``

    >>> import mpinet
    >>> mpinet.reduce("hypercube:4").correct
    True
    """

    command = "reduce"
    _: KW_ONLY
    operator: Operator = "min"
    root: Place = 0
    """Processor that learns the value: a number or an address."""
    algorithm: Annotated[str | None, Typed(algorithm_help("reduce"), metavar="NAME")] = None
    items: int = 1
    """Items of every processor, each of which is combined with the others'; in a pipeline where
    there are more than one."""


reduce = function_with(ReduceOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class AllreduceOptions(ReductionOptions):
    """Combine the items of all processors at all of them (collective).

    Returns
    -------
    Result
        There are always items and bandwidth; ``optimum --items`` has the certificates of bounds.
        See docs/how-to/pipelines.

    Examples
    --------
    ``mpinet allreduce torus:4x4 --operator sum --items 32``

    ``mpinet allreduce ring:8 --items 16 --ports all``

    >>> import mpinet
    >>> found = mpinet.allreduce("ring:8", operator="sum", items=8)
    >>> found.steps, found.lower_bound
    (14, 14)
    """

    command = "allreduce"
    topology: Network
    """Network of links."""
    _: KW_ONLY
    operator: Operator = "min"
    """Operator on two items; sums are taken modulo 2^64."""
    algorithm: Annotated[str | None, Typed(algorithm_help("allreduce"), metavar="NAME")] = None
    items: int = 1
    """Items of every processor, each of which is combined with those of the others."""


allreduce = function_with(AllreduceOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class ReduceScatterOptions(ReductionOptions):
    """Combine items of all processors, each at one of them (collective).

    Every processor has an item for each, which comes to what all have for it: a gossip backwards.


    Returns
    -------
    Result
        There are always items and bandwidth; ``optimum`` has the certificates of bounds.

    Examples
    --------
    ``mpinet reducescatter hypercube:4 --operator sum``

    ``mpinet reduce_scatter petersen --items 4 --ports all``

    >>> import mpinet
    >>> found = mpinet.reducescatter("ring:8", operator="sum")
    >>> found.steps, found.lower_bound
    (7, 7)
    """

    command = "reducescatter"
    topology: Network
    """Network of links or busses."""
    _: KW_ONLY
    operator: Operator = "min"
    algorithm: Annotated[str | None, Typed(algorithm_help("reducescatter"), metavar="NAME")] = None
    items: int = 1
    """Items that are combined at each processor."""


reducescatter = function_with(ReduceScatterOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class CirculateOptions(CollectiveOptions):
    """Let every item visit all processors of its subcube (collective).

    Examples
    --------
    ``mpinet circulate hypercube:4``

    ``mpinet circulate hypercube:6 --dimensions 3``

    >>> import mpinet
    >>> mpinet.circulate("hypercube:3").correct
    True
    """

    command = "circulate"
    _: KW_ONLY
    dimensions: int | None = None
    """Number of low dimensions of the subcubes in which items circulate; default: all."""
    algorithm: Pairing = None


circulate = function_with(CirculateOptions, CollectiveResult, Views, SavedOften, Common)


bcast, allgather, alltoall, reduce_scatter = broadcast, gossip, exchange, reducescatter
"""Names of MPI for these."""

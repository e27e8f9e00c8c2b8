"""Commands of the collectives: gossip, scatter, gather, exchange, reductions, circulation.

Each is a function, whose signature says what it takes, and a row of `PROGRAMS`, which says how it
is run.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

from mpinet.commands.ascend import Pairing
from mpinet.commands.fields import Count, GroupFound, Phase, Positive, Skipped, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Typed
from mpinet.commands.options import (
    Algorithm,
    CollectiveOptions,
    Common,
    ItemOptions,
    ManyOptions,
    Operator,
    Place,
    Ports,
    ReductionOptions,
    RootedOptions,
    RoutingName,
    SavedOften,
    Switches,
    Views,
)
from mpinet.commands.result import Result

One = Annotated[Place, Typed("Processor that has all items, or gets them: a number or an address.")]


Spread = Annotated[
    str | None,
    Typed(
        "Algorithm: ``tree`` (links), ``routed`` or ``flow`` (the fewest steps); default: the "
        "first that applies.",
        metavar="NAME",
    ),
]


FAULTY = When("with ``--faults``")


MANY = When("of several items, of groups, with faults, or through switches that forward,")


class CollectiveResult(Result):
    """Result of ``scatter``, ``gather`` and ``circulate``."""

    algorithm: str
    steps: Count
    messages: Count
    lower_bound: Count | None
    lower_by: Annotated[str, "as of ``broadcast``"]
    correct: bool
    intact_steps: Annotated[Count, FAULTY, "steps without the faults"]
    intact_bound: Annotated[Count | None, FAULTY, "their lower bound"]
    groups: Annotated[list[GroupFound], When("of several groups"), "what each takes alone"]
    phases: list[Phase]


class PipelinedResult(CollectiveResult):
    """Result of ``exchange``."""

    items: Annotated[Positive, MANY]
    bandwidth: Annotated[tuple[Positive, Positive] | None, MANY, "so many items in so many steps"]
    skipped: Skipped


class GossipResult(PipelinedResult):
    """Result of ``gossip``."""

    by_orbit: Annotated[
        bool,
        When("by ``translations``"),
        "whether one processor's messages were checked, and stand for all",
    ]


class ReduceResult(PipelinedResult):
    """Result of ``reduce`` and its like; the field ``value`` is ``result["value"]``."""

    operator: str

    beside_: ClassVar = {"value": Annotated[int, "of item 0, 0..2^64-1"]}


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
    topology: Network
    _: KW_ONLY
    algorithm: Algorithm = None
    """Algorithm: ``cycle`` (where the network offers one), ``tree`` (links), ``routed``; ``rarest``
    or ``trees`` (links, all ports), ``matching`` (one port), ``paths`` (through switches that
    forward); or ``translations`` (links, where all processors look alike): one processor's
    messages, turned to all others. Default: the fewest steps on links, else the first of the first
    three."""
    items: int = 1
    """Items of every processor, sent in a pipeline where there are more than one: ``rarest``,
    ``paths`` or ``trees`` (all ports), ``matching`` or ``cycle`` (one port); default: the fewest
    steps."""
    switches: Switches = "copy"
    ports: Ports = "one"


gossip = function_with(GossipOptions, GossipResult, Views, SavedOften, Common)


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
    topology: Network
    _: KW_ONLY
    root: One = 0
    algorithm: Spread = None
    ports: Ports = "one"


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
    topology: Network
    _: KW_ONLY
    root: One = 0
    algorithm: Spread = None
    ports: Ports = "one"


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
    topology: Network
    _: KW_ONLY
    routing: RoutingName = None
    algorithm: Algorithm = None
    """Algorithm: ``routed`` (default), or ``farthest`` (links): farthest target first, few
    steps."""
    items: int = 1
    """Items from every processor to every other; more than one go by ``farthest``."""
    ports: Ports = "one"


exchange = function_with(ExchangeOptions, PipelinedResult, Views, SavedOften, Common)


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
    topology: Network
    _: KW_ONLY
    operator: Operator = "min"
    root: Place = 0
    """Processor that learns the value: a number or an address."""
    algorithm: Algorithm = None
    """Broadcast that is run backwards; default: the first that applies (see broadcast). Through
    switches that forward: ``paths``."""
    items: int = 1
    """Items of every processor, each of which is combined with the others'; in a pipeline where
    there are more than one: ``rarest``, ``trees`` (all ports), ``matching`` or ``cycle`` (one
    port); default: the fewest steps."""
    switches: Switches = "copy"
    ports: Ports = "one"


reduce = function_with(ReduceOptions, ReduceResult, Views, SavedOften, Common)


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
    algorithm: Algorithm = None
    """Algorithm: ``rarest``, ``trees`` (all ports), ``matching`` or ``cycle`` (one port),
    ``dimensions`` (one after the other, as in recursive doubling), ``paths`` (through switches that
    forward); default: the fewest steps."""
    items: int = 1
    """Items of every processor, each of which is combined with those of the others."""
    switches: Switches = "copy"
    ports: Ports = "one"


allreduce = function_with(AllreduceOptions, ReduceResult, Views, SavedOften, Common)


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
    algorithm: Algorithm = None
    """Algorithm: ``rarest`` or ``trees`` (all ports), ``matching`` or ``cycle`` (one port),
    ``paths`` (through switches that forward); default: the fewest steps."""
    items: int = 1
    """Items that are combined at each processor."""
    switches: Switches = "copy"
    ports: Ports = "one"


reducescatter = function_with(ReduceScatterOptions, ReduceResult, Views, SavedOften, Common)


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
    topology: Network
    _: KW_ONLY
    dimensions: int | None = None
    """Number of low dimensions of the subcubes in which items circulate; default: all."""
    algorithm: Pairing = None
    ports: Ports = "one"


circulate = function_with(CirculateOptions, CollectiveResult, Views, SavedOften, Common)

allgather, alltoall, reduce_scatter = gossip, exchange, reducescatter
"""Names of MPI for these."""

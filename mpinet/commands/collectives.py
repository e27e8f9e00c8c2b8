"""Commands of the collectives.

Each command is a function, whose signature lists the options, and a row of the table in
`mpinet.commands.algorithms`, which names the programs.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from mpinet.commands.algorithms import algorithm_help
from mpinet.commands.ascend import Pairing
from mpinet.commands.collectiveresult import CollectiveResult
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, SavedOften, Typed, Views
from mpinet.commands.options import (
    CollectiveOptions,
    ItemOptions,
    ManyOptions,
    Operator,
    Place,
    ReductionOptions,
    RootedOptions,
    RoutingName,
)

__all__ = [
    "allgather",
    "allreduce",
    "alltoall",
    "circulate",
    "exchange",
    "gather",
    "gossip",
    "reduce",
    "reduce_scatter",
    "reducescatter",
    "scatter",
]

One = Annotated[Place, Typed("Root, which sends or receives all items: number or address.")]


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
    """Items of each processor; more than one item is sent in a pipeline."""


gossip = function_with(GossipOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class ScatterOptions(RootedOptions):
    """Bring a different item from one processor to each other processor (collective).

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
    """Bring an item from each processor to one processor (collective).

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
    """Bring a different item from each processor to each other processor (collective).

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
    """Items from each processor to each other processor; more than one item needs ``farthest``."""


exchange = function_with(ExchangeOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class ReduceOptions(RootedOptions, ReductionOptions):
    """Combine the items of all processors at one processor (collective).

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
    """Processor that gets the combined value: number or address."""
    algorithm: Annotated[str | None, Typed(algorithm_help("reduce"), metavar="NAME")] = None
    items: int = 1
    """Items of each processor, combined item by item with the items of all other processors. More
    than one item is sent in a pipeline."""


reduce = function_with(ReduceOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class AllreduceOptions(ReductionOptions):
    """Combine the items of all processors; all processors get the result (collective).

    Returns
    -------
    Result
        The fields ``items`` and ``bandwidth`` are always present. ``optimum --items`` gives
        certificates for bounds. See docs/how-to/pipelines.

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
    """Items of each processor; item i is combined with item i of all other processors."""


allreduce = function_with(AllreduceOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class ReduceScatterOptions(ReductionOptions):
    """Combine items of all processors; each processor gets its own part (collective).

    Every processor has one item for each processor. The items for a processor are combined on their
    way: a gossip in reverse.


    Returns
    -------
    Result
        The fields ``items`` and ``bandwidth`` are always present. ``optimum`` gives certificates
        for
        bounds.

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
    """Items combined at each processor."""


reducescatter = function_with(ReduceScatterOptions, CollectiveResult, Views, SavedOften, Common)


@dataclass(frozen=True)
class CirculateOptions(CollectiveOptions):
    """Send every item through all processors of its subcube (collective).

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
    """Dimension of the subcubes in which items circulate, made of the lowest dimensions; default:
    all."""
    algorithm: Pairing = None


circulate = function_with(CirculateOptions, CollectiveResult, Views, SavedOften, Common)


allgather, alltoall, reduce_scatter = gossip, exchange, reducescatter
"""Names of these collectives in MPI."""

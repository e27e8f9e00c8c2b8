"""Commands of the collectives: gossip, scatter, gather, exchange, reductions, circulation.

Each is a function, whose signature says what it takes, and a row of `PROGRAMS`, which says how it
is run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Annotated, ClassVar

from mpinet.commands.ascend import Pairing
from mpinet.commands.collective import Collective, Work
from mpinet.commands.fabric import parts_of
from mpinet.commands.fields import Count, Phase, Positive, When
from mpinet.commands.job import Job
from mpinet.commands.opening import Network, port_model, routing_of
from mpinet.commands.options import (
    Algorithm,
    Common,
    OnFabric,
    Operator,
    Place,
    Ports,
    RoutingName,
    SavedOften,
    Switches,
    Views,
)
from mpinet.commands.perform import perform
from mpinet.commands.pipelined import Pipelined
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, Unpack, command
from mpinet.commands.together import GroupFound, Together
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import KINDS, PIPELINED, ROOTED

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


@command(Views, SavedOften, Common)
def gossip(
    topology: Network,
    *,
    algorithm: Algorithm = None,
    items: int = 1,
    switches: Switches = "copy",
    ports: Ports = "one",
    **options: Unpack[OnFabric],
) -> GossipResult:
    """Bring every processor's item to all processors (collective).

    Parameters
    ----------
    algorithm : str, optional
        Algorithm: ``cycle`` (where the network offers one), ``tree`` (links), ``routed``;
        ``rarest`` or ``trees`` (links, all ports), ``matching`` (one port), ``paths`` (through
        switches that forward); or ``translations`` (links, where all processors look alike): one
        processor's messages, turned to all others. Default: the fewest steps on links, else the
        first of the first three.
    items : int
        Items of every processor, sent in a pipeline where there are more than one:
        ``rarest``, ``paths`` or ``trees`` (all ports), ``matching`` or ``cycle`` (one port);
        default: the fewest steps.

    Examples
    --------
    ``mpinet gossip torus:8x8``

    ``mpinet gossip hypercube:4 --ports all --items 8``

    >>> import mpinet
    >>> mpinet.gossip("petersen", ports="all", algorithm="rarest").steps
    3
    """
    return perform(gossip, locals())


@command(Views, SavedOften, Common)
def scatter(
    topology: Network,
    *,
    root: One = 0,
    algorithm: Spread = None,
    ports: Ports = "one",
    **options: Unpack[OnFabric],
) -> CollectiveResult:
    """Bring a different item from one processor to every other (collective).

    Examples
    --------
    ``mpinet scatter torus:8x8``

    ``mpinet scatter hypercube:4 --root 5 --ports all``

    >>> import mpinet
    >>> mpinet.scatter("ring:8").correct
    True
    """
    return perform(scatter, locals())


@command(Views, SavedOften, Common)
def gather(
    topology: Network,
    *,
    root: One = 0,
    algorithm: Spread = None,
    ports: Ports = "one",
    **options: Unpack[OnFabric],
) -> CollectiveResult:
    """Bring an item from every processor to one (collective).

    Examples
    --------
    ``mpinet gather torus:8x8``

    ``mpinet gather hypercube:4 --root 5 --ports all``

    >>> import mpinet
    >>> mpinet.gather("ring:8").correct
    True
    """
    return perform(gather, locals())


@command(Views, SavedOften, Common)
def exchange(
    topology: Network,
    *,
    routing: RoutingName = None,
    algorithm: Algorithm = None,
    items: int = 1,
    ports: Ports = "one",
    **options: Unpack[OnFabric],
) -> PipelinedResult:
    """Bring a different item from every processor to every other (collective).

    Parameters
    ----------
    algorithm : str, optional
        Algorithm: ``routed`` (default), or ``farthest`` (links): farthest target first, few steps.
    items : int
        Items from every processor to every other; more than one go by ``farthest``.

    Examples
    --------
    ``mpinet exchange torus:8x8``

    ``mpinet exchange hypercube:4 --ports all --algorithm farthest``

    >>> import mpinet
    >>> mpinet.exchange("hypercube:3").correct
    True
    """
    return perform(exchange, locals())


@command(Views, SavedOften, Common)
def reduce(
    topology: Network,
    *,
    operator: Operator = "min",
    root: Place = 0,
    algorithm: Algorithm = None,
    items: int = 1,
    switches: Switches = "copy",
    ports: Ports = "one",
    **options: Unpack[OnFabric],
) -> ReduceResult:
    """Combine the items of all processors at one (collective).

    Parameters
    ----------
    root : int or str
        Processor that learns the value: a number or an address.
    algorithm : str, optional
        Broadcast that is run backwards; default: the first that applies (see broadcast). Through
        switches that forward: ``paths``.
    items : int
        Items of every processor, each of which is combined with the others'; in a pipeline where
        there are more than one: ``rarest``, ``trees`` (all ports), ``matching`` or ``cycle`` (one
        port); default: the fewest steps.

    Examples
    --------
    ``mpinet reduce torus:8x8 --operator sum``

    ``mpinet reduce hypercube:4 --items 8 --ports all``

    >>> import mpinet
    >>> mpinet.reduce("hypercube:4").correct
    True
    """
    return perform(reduce, locals())


@command(Views, SavedOften, Common)
def allreduce(
    topology: Network,
    *,
    operator: Operator = "min",
    algorithm: Algorithm = None,
    items: int = 1,
    switches: Switches = "copy",
    ports: Ports = "one",
    **options: Unpack[OnFabric],
) -> ReduceResult:
    """Combine the items of all processors at all of them (collective).

    Parameters
    ----------
    topology : str or Topology
        Network of links.
    operator : {'min', 'max', 'sum'}
        Operator on two items; sums are taken modulo 2^64.
    algorithm : str, optional
        Algorithm: ``rarest``, ``trees`` (all ports), ``matching`` or ``cycle`` (one port),
        ``dimensions`` (one after the other, as in recursive doubling), ``paths`` (through switches
        that forward); default: the fewest steps.
    items : int
        Items of every processor, each of which is combined with those of the others.
    duplex : {'full', 'half'}
        Messages that a link carries in a step: one each way, or one (not for allreduce).

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
    return perform(allreduce, locals())


@command(Views, SavedOften, Common)
def reducescatter(
    topology: Network,
    *,
    operator: Operator = "min",
    algorithm: Algorithm = None,
    items: int = 1,
    switches: Switches = "copy",
    ports: Ports = "one",
    **options: Unpack[OnFabric],
) -> ReduceResult:
    """Combine items of all processors, each at one of them (collective).

    Every processor has an item for each, which comes to what all have for it: a gossip backwards.

    Parameters
    ----------
    topology : str or Topology
        Network of links or busses.
    algorithm : str, optional
        Algorithm: ``rarest`` or ``trees`` (all ports), ``matching`` or ``cycle`` (one port),
        ``paths`` (through switches that forward); default: the fewest steps.
    items : int
        Items that are combined at each processor.

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
    return perform(reducescatter, locals())


@command(Views, SavedOften, Common)
def circulate(
    topology: Network,
    *,
    dimensions: int | None = None,
    algorithm: Pairing = None,
    ports: Ports = "one",
    **options: Unpack[OnFabric],
) -> CollectiveResult:
    """Let every item visit all processors of its subcube (collective).

    Parameters
    ----------
    dimensions : int, optional
        Number of low dimensions of the subcubes in which items circulate; default: all.

    Examples
    --------
    ``mpinet circulate hypercube:4``

    ``mpinet circulate hypercube:6 --dimensions 3``

    >>> import mpinet
    >>> mpinet.circulate("hypercube:3").correct
    True
    """
    return perform(circulate, locals())


allgather, alltoall, reduce_scatter = gossip, exchange, reducescatter
"""Names of MPI for these."""


def prepare(options: argparse.Namespace) -> Job:
    """Find the root and the algorithm; many items make a pipeline."""
    topology, parts = parts_of(options)
    name = options.command
    if len(parts) > 1 and name not in KINDS:
        raise UsageError(f"--group: {name} is done by one group at a time.")
    if len(parts) > 1:
        return Together(options, topology, parts)
    root = topology.find(str(options.root)) if name in ROOTED else 0
    if name in PIPELINED and _is_pipeline(options, topology):
        return Pipelined(options, topology, root if name in ROOTED else None)
    return Collective(options, topology, PROGRAMS[name](options, topology, root))


def _is_pipeline(options: argparse.Namespace, topology: Topology) -> bool:
    """Return whether items go in a pipeline: several, if there is no other way, or by switches.

    Where switches only forward, a reduction is a pipeline of one item, and so is a gossip in which
    processors fetch what is rarest.
    """
    from mpinet.networks.members import Members
    from mpinet.programs.pipelines.spreading import COPY, PATHS, RAREST, behavior, only_forwards

    if options.items != 1 or options.command not in PROGRAMS:
        return True
    through = topology.links and topology.size > topology.hosts
    if options.command == "gossip" and through and options.algorithm in (PATHS, RAREST):
        return True
    if only_forwards(topology, behavior(options.command, getattr(options, "switches", COPY))):
        return True
    if options.command == "gossip" and options.algorithm is None:
        # There is no schedule of its own, and a network beside has to be compared with such a one.
        return isinstance(topology, Members) or hasattr(options, "beside")
    return False


def _gossip(options: argparse.Namespace, topology: Topology, root: int) -> Work:
    from mpinet.programs import needs
    from mpinet.programs.gossip import gossip, require_algorithm

    algorithm = require_algorithm(topology, options.duplex == "half", options.algorithm)
    return Work(
        lambda machine: gossip(machine, options.algorithm, options.seed),
        lambda share: needs.gossip(share, algorithm),
    )


def _from_or_to_one(options: argparse.Namespace, topology: Topology, root: int) -> Work:
    from mpinet.programs import needs
    from mpinet.programs.gather import gather, require_algorithm
    from mpinet.programs.scatter import scatter

    way, model = options.command, port_model(options)
    algorithm = require_algorithm(topology, root, options.algorithm, way, model)
    moved = scatter if way == "scatter" else gather
    return Work(
        lambda machine: moved(machine, root, options.algorithm, options.seed),
        lambda share: needs.from_or_to_one(share, algorithm, way, root),
        lambda share: needs.at_root(share, algorithm, way, root),
    )


def _exchange(options: argparse.Namespace, topology: Topology, root: int) -> Work:
    from mpinet.programs import needs
    from mpinet.programs.exchange import FARTHEST, exchange, require_algorithm

    name = require_algorithm(topology, options.algorithm, port_model(options))
    if name == FARTHEST and options.routing is not None:
        raise UsageError("--routing does not apply to total exchange 'farthest'.")
    routing = None if name == FARTHEST else routing_of(topology, options.routing)
    return Work(
        lambda machine: exchange(machine, routing, options.seed, options.algorithm),
        needs.exchange,
    )


def _reduce(options: argparse.Namespace, topology: Topology, root: int) -> Work:
    from mpinet.programs import needs
    from mpinet.programs.broadcast import require_algorithm
    from mpinet.programs.reduce import reduce, turned_round

    model = turned_round(port_model(options))
    algorithm, schedule = require_algorithm(topology, root, options.algorithm, model)
    return Work(
        lambda machine: reduce(machine, root, options.operator, algorithm, options.seed),
        lambda share: needs.reduce(share, algorithm, schedule),
    )


def _circulate(options: argparse.Namespace, topology: Topology, root: int) -> Work:
    from mpinet.programs import needs
    from mpinet.programs.circulate import circulate, require_dimensions
    from mpinet.programs.schedules import find_schedule

    require_dimensions(topology, options.dimensions)
    schedule = find_schedule(topology, options.algorithm)
    return Work(
        lambda machine: circulate(machine, options.dimensions, options.algorithm, options.seed),
        lambda share: needs.circulate(share, schedule),
    )


PROGRAMS: dict[str, Callable[[argparse.Namespace, Topology, int], Work]] = {
    "gossip": _gossip,
    "scatter": _from_or_to_one,
    "gather": _from_or_to_one,
    "exchange": _exchange,
    "reduce": _reduce,
    "circulate": _circulate,
}
"""Finders of the commands' algorithms, which refuse what cannot be; the others are pipelines."""

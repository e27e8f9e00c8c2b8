"""Commands of the collectives: gossip, scatter, gather, exchange, reductions, circulation.

`prepare` finds the root and the algorithm; `_work` has a case for each collective of one item.
"""

from __future__ import annotations

from mpinet.commands.collectives import (
    CirculateOptions,
    ExchangeOptions,
    GossipOptions,
    ReduceOptions,
)
from mpinet.commands.job import Job
from mpinet.commands.options import CollectiveOptions, ItemOptions, ManyOptions, RootedOptions
from mpinet.errors import UsageError
from mpinet.jobs.collective import Collective, Work
from mpinet.jobs.fabric import parts_of
from mpinet.jobs.opening import port_model, routing_of
from mpinet.jobs.pipelined import Pipelined
from mpinet.jobs.together import Together
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import KINDS


def prepare(options: CollectiveOptions) -> Job:
    """Find the root and the algorithm; many items make a pipeline."""
    topology, parts = parts_of(options.topology, options.faults, options.group)
    name = options.command
    if len(parts) > 1 and name not in KINDS:
        raise UsageError(f"--group: {name} is done by one group at a time.")
    if len(parts) > 1:
        return Together(options, topology, parts)
    root = topology.find(str(options.root)) if isinstance(options, RootedOptions) else None
    if isinstance(options, ManyOptions) and _is_pipeline(options, topology):
        return Pipelined(options, topology, root)
    return Collective(options, topology, _work(options, topology, root or 0))


def _work(options: CollectiveOptions, topology: Topology, root: int) -> Work:
    """Return how the collective runs, item by item."""
    match options:
        case GossipOptions():
            return _gossip(options, topology)
        case ExchangeOptions():
            return _exchange(options, topology)
        case CirculateOptions():
            return _circulate(options, topology)
        case ReduceOptions():
            return _reduce(options, topology, root)
    return _from_or_to_one(options, topology, root)


ALWAYS_PIPELINED = ("allreduce", "reducescatter")
"""Collectives without a program for one item alone."""


def _is_pipeline(options: ManyOptions, topology: Topology) -> bool:
    """Return whether items go in a pipeline: several, if there is no other way, or by switches.

    Where switches only forward, a reduction is a pipeline of one item, and so is a gossip in which
    processors fetch what is rarest.
    """
    from mpinet.networks.members import Members
    from mpinet.programs.pipelines.spreading import PATHS, RAREST
    from mpinet.programs.pipelines.switching import COPY, behavior, only_forwards

    if options.items != 1 or options.command in ALWAYS_PIPELINED:
        return True
    through = topology.links and topology.size > topology.hosts
    if options.command == "gossip" and through and options.algorithm in (PATHS, RAREST):
        return True
    switches = options.switches if isinstance(options, ItemOptions) else COPY
    if only_forwards(topology, behavior(options.command, switches)):
        return True
    if options.command == "gossip" and options.algorithm is None:
        # There is no schedule of its own, and a network beside has to be compared with such a one.
        return isinstance(topology, Members) or options.beside
    return False


def _gossip(options: GossipOptions, topology: Topology) -> Work:
    from mpinet.programs import needs
    from mpinet.programs.gossip import gossip, require_algorithm

    algorithm = require_algorithm(topology, options.duplex == "half", options.algorithm)
    return Work(
        lambda machine: gossip(machine, options.algorithm, options.seed),
        lambda share: needs.gossip(share, algorithm),
    )


def _from_or_to_one(options: CollectiveOptions, topology: Topology, root: int) -> Work:
    from mpinet.programs import needs
    from mpinet.programs.gather import gather, require_algorithm
    from mpinet.programs.scatter import scatter

    way, model = options.command, port_model(options.ports, options.duplex)
    algorithm = require_algorithm(topology, root, options.algorithm, way, model)
    moved = scatter if way == "scatter" else gather
    return Work(
        lambda machine: moved(machine, root, options.algorithm, options.seed),
        lambda share: needs.from_or_to_one(share, algorithm, way, root),
        lambda share: needs.at_root(share, algorithm, way, root),
    )


def _exchange(options: ExchangeOptions, topology: Topology) -> Work:
    from mpinet.programs import needs
    from mpinet.programs.exchange import FARTHEST, exchange, require_algorithm

    name = require_algorithm(topology, options.algorithm, port_model(options.ports, options.duplex))
    if name == FARTHEST and options.routing is not None:
        raise UsageError("--routing does not apply to total exchange 'farthest'.")
    routing = None if name == FARTHEST else routing_of(topology, options.routing)
    return Work(
        lambda machine: exchange(machine, routing, options.seed, options.algorithm),
        needs.exchange,
    )


def _reduce(options: ReduceOptions, topology: Topology, root: int) -> Work:
    from mpinet.programs import needs
    from mpinet.programs.broadcast import require_algorithm
    from mpinet.programs.reduce import reduce, turned_round

    model = turned_round(port_model(options.ports, options.duplex))
    algorithm, schedule = require_algorithm(topology, root, options.algorithm, model)
    return Work(
        lambda machine: reduce(machine, root, options.operator, algorithm, options.seed),
        lambda share: needs.reduce(share, algorithm, schedule),
    )


def _circulate(options: CirculateOptions, topology: Topology) -> Work:
    from mpinet.programs import needs
    from mpinet.programs.circulate import circulate, require_dimensions
    from mpinet.programs.schedules import find_schedule

    require_dimensions(topology, options.dimensions)
    schedule = find_schedule(topology, options.algorithm)
    return Work(
        lambda machine: circulate(machine, options.dimensions, options.algorithm, options.seed),
        lambda share: needs.circulate(share, schedule),
    )

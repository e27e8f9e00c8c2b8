"""Programs of the collectives: call their functions with options matched by parameter names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from mpinet.commands.algorithms import COLLECTIVES, CollectiveProgram, fetching
from mpinet.commands.options import CollectiveOptions, ItemOptions, ManyOptions
from mpinet.errors import UsageError
from mpinet.jobs.opening import port_model, routing_of
from mpinet.machine.model import PortModel
from mpinet.networks.routing import Routing
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import OF_EACH
from mpinet.programs.pipelines.switching import COPY, FORWARD, behavior, only_forwards

if TYPE_CHECKING:
    from mpinet.programs.schedules.schedule import PassSchedule


def called(name: str, values: Mapping[str, Any]) -> Any:
    """Call ``module:function`` with the values that its parameters name."""
    module, _, function = name.partition(":")
    # Modules are imported by name: a command loads only its own program.
    made = getattr(import_module(module), function)
    return made(**{one: values[one] for one in signature(made).parameters if one in values})


class Prepared:
    """A program with its options, checked before the run.

    Parameters
    ----------
    program : CollectiveProgram
        The program's functions.
    values : dict
        Values by parameter name.

    Raises
    ------
    MpinetError
        The program cannot run with these options.
    """

    def __init__(self, program: CollectiveProgram, values: dict[str, Any]):
        found = called(program.require, values)
        found = found if isinstance(found, tuple) else (found,)
        self._program, self._given = program, values
        self._known = values | dict(zip(program.finds, found, strict=True))

    def run(self, **more: Any) -> Any:
        """Move the items (collective)."""
        # A program that compares algorithms must not mistake the found algorithm for the user's
        # choice.
        given = self._given if self._program.chooses else self._known
        return called(self._program.run, given | more)

    def rehearse(self, **more: Any) -> Any:
        """Run a single rank on one process, for ``mpinet predict``."""
        return called(self._program.rehearse, self._known | more)

    def needs(self, share: Any) -> int:
        """Return the bytes that the rank with this share of the network needs."""
        return int(called(self._program.needs, self._known | {"share": share}))

    def once(self, share: Any) -> int:
        """Return the part of these bytes needed by a single rank."""
        if not self._program.once:
            return 0
        return int(called(self._program.once, self._known | {"share": share}))


def values_of_parameters(
    options: CollectiveOptions, topology: Topology, root: int | None
) -> dict[str, Any]:
    """Return the values for the functions of programs, by parameter name."""
    return vars(options) | {
        "topology": topology,
        "root": root,
        "collective": options.command,
        "model": port_model(options.ports, options.duplex),
        "half_duplex": options.duplex == "half",
    }


def is_pipeline(options: CollectiveOptions, topology: Topology) -> bool:
    """Return True if the collective runs as a pipeline.

    A pipeline runs for several items, for collectives without a program for a single item, and for
    switches limited to forwarding. Programs for a single item need switches with copying.
    """
    from mpinet.networks.members import Members

    row = COLLECTIVES[options.command]
    if row.many is None or not isinstance(options, ManyOptions):
        return False
    if row.one is None or options.items != 1:
        return True
    switches = options.switches if isinstance(options, ItemOptions) else COPY
    if only_forwards(topology, behavior(options.command, switches)):
        return True
    if not row.is_planned_in_parts:
        return False
    if options.algorithm is None:
        # A group has no schedule of its family, so the comparison run of the whole network uses the
        # same program.
        return isinstance(topology, Members) or options.beside
    return only_forwards(topology, FORWARD) and options.algorithm in fetching()


def require_pipeline(
    topology: Topology,
    collective: str,
    root: int | None,
    items: int,
    model: PortModel,
    algorithm: str | None,
    switches: str = COPY,
    routing: str | None = None,
) -> tuple[int, bool, PortModel | None]:
    """Check that the items can be moved; return the arguments of `needs.pipeline`.

    Raises
    ------
    UsageError
        The collective cannot move this number of items with these options.
    """
    from mpinet.programs.collective import require_processor
    from mpinet.programs.exchange import FARTHEST
    from mpinet.programs.pipelines.bounds import EXCHANGE
    from mpinet.programs.pipelines.collectives import require_exchange as require_items
    from mpinet.programs.pipelines.spreading import DIMENSIONS, require_spread

    # The root is checked before the limits of items, because a switch as root is an error that the
    # user sees in the typed words.
    if root is not None:
        require_processor(topology, root)
    rooted, twice = collective not in OF_EACH, collective == "allreduce"
    # Limits count the different items on the whole machine. Without a root, every processor has its
    # own items.
    number = items if rooted else items * topology.hosts
    if collective == EXCHANGE:
        if routing is not None or algorithm not in (None, FARTHEST):
            raise UsageError(
                f"A total exchange of several items needs {FARTHEST!r}, without --routing."
            )
        require_items(topology, model, items)
    else:
        turning = behavior(collective, switches)
        require_spread(topology, model, number, rooted, algorithm, turning, twice)
    exchanged = twice and algorithm in (None, DIMENSIONS)
    return number, twice, model if exchanged and (number == 1 or algorithm) else None


def require_exchange(
    topology: Topology, algorithm: str | None, model: PortModel, routing: str | None
) -> tuple[str, Routing | None]:
    """Return the algorithm and the routing of a total exchange with one item per pair."""
    from mpinet.programs.exchange import FARTHEST, require_algorithm

    name = require_algorithm(topology, algorithm, model)
    if name == FARTHEST and routing is not None:
        raise UsageError("--routing does not apply to total exchange 'farthest'.")
    return name, None if name == FARTHEST else routing_of(topology, routing)


def require_reduction(
    topology: Topology, root: int, algorithm: str | None, model: PortModel
) -> tuple[str, Schedule | None]:
    """Return the name and the schedule of the broadcast that a reduction runs in reverse."""
    from mpinet.programs.broadcast import require_algorithm
    from mpinet.programs.reduce import turned_round

    return require_algorithm(topology, root, algorithm, turned_round(model))


def require_circulation(
    topology: Topology, dimensions: int | None, algorithm: str | None
) -> type[PassSchedule]:
    """Return the schedule of a circulation."""
    from mpinet.programs.circulate import require_dimensions
    from mpinet.programs.schedules import find_schedule

    require_dimensions(topology, dimensions)
    return find_schedule(topology, algorithm)

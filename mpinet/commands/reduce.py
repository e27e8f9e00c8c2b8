"""``mpinet reduce``: the least, the largest or the sum of all processors' items, at one of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.collective import Collective
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import Network, port_model, topology_of
from mpinet.commands.options import (
    Algorithm,
    Common,
    OnMachine,
    Operator,
    Place,
    Ports,
    SavedOften,
    Switches,
    Views,
)
from mpinet.commands.perform import perform
from mpinet.commands.pipelined import Pipelined
from mpinet.commands.result import Result
from mpinet.commands.signature import Unpack, command
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.machine.transport import Local
    from mpinet.programs.reduce import ReduceResult


@command(Views, SavedOften, Common)
def reduce(
    topology: Network,
    *,
    operator: Operator = "min",
    root: Place = 0,
    algorithm: Algorithm = None,
    items: int = 1,
    switches: Switches = "forward",
    ports: Ports = "one",
    **options: Unpack[OnMachine],
) -> Result:
    """Combine the items of all processors at one (collective).

    Parameters
    ----------
    root : int or str
        Who learns it: a number or an address.
    algorithm : str, optional
        The broadcast that is turned round; default: the first that applies (see broadcast). Through
        switches that forward: ``paths``.
    items : int
        Items of every processor, each of which is combined with the others'; in a pipeline where
        there are more than one: ``rarest``, ``trees`` (all ports), ``matching`` or ``cycle`` (one
        port); default: the fewest steps.

    Returns
    -------
    Result
        operator, value, algorithm, steps, messages, lower_bound, lower_by, correct, phases; with
        ``--items`` above 1, or through switches that forward, also items, bandwidth (as of
        ``allreduce``).

    Examples
    --------
    >>> import mpinet
    >>> mpinet.reduce("hypercube:4").correct
    True
    """
    return perform(reduce, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Find root and algorithm; where switches only forward, it is a pipeline of one item."""
    from mpinet.programs.broadcast import require_algorithm
    from mpinet.programs.pipelines.spreading import only_forwards
    from mpinet.programs.reduce import turned_round

    topology = topology_of(options)
    root = topology.find(str(options.root))
    if options.items != 1 or only_forwards(topology, options.switches):
        return Pipelined(options, topology, root)
    model = turned_round(port_model(options))
    algorithm, schedule = require_algorithm(topology, root, options.algorithm, model)
    return Reduce(options, topology, root, algorithm, schedule)


class Reduce(Collective):
    """A reduction."""

    def __init__(
        self,
        options: argparse.Namespace,
        topology: Topology,
        root: int,
        algorithm: str,
        schedule: Schedule | None,
    ):
        super().__init__(options, topology)
        self._root = root
        self._algorithm = algorithm
        self._schedule = schedule

    def needs(self, ranks: int) -> int:
        """As the algorithm needs."""
        from mpinet.programs import needs

        return needs.reduce(self.share(ranks), self._algorithm, self._schedule)

    def perform(self, machine: Machine) -> ReduceResult:
        """Reduce."""
        from mpinet.programs.reduce import reduce

        options = self.options
        self._found = reduce(machine, self._root, options.operator, self._algorithm, options.seed)
        return self._found

    def run(self, transport: Local, watch: Watch) -> Row:
        """Tell the operator and the value, too."""
        result = super().run(transport, watch)
        return {"operator": self.options.operator, "value": self._found.value, **result}

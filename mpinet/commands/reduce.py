"""``mpinet reduce``: the least, the largest or the sum of all processors' items, at one of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Literal

from mpinet.commands.collective import Collective
from mpinet.commands.job import Job, Watch
from mpinet.commands.options import (
    Bytes,
    Duplex,
    File,
    Hosted,
    Network,
    Place,
    Ports,
    port_model,
    topology_of,
)
from mpinet.commands.perform import perform
from mpinet.commands.pipelined import Pipelined
from mpinet.commands.result import Result
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.machine.transport import Local
    from mpinet.programs.reduce import ReduceResult


def reduce(
    topology: Network,
    *,
    operator: Literal["min", "max", "sum"] = "min",
    root: Place = 0,
    algorithm: str | None = None,
    items: int = 1,
    ports: Ports = "one",
    duplex: Duplex = "full",
    mapping: Hosted = "blocks",
    record: File | None = None,
    record_steps: str | None = None,
    record_nodes: str | None = None,
    memory_limit: Bytes | None = None,
    force: bool = False,
    seed: int = 0,
) -> Result:
    """Combine the items of all processors at one (collective).

    Parameters
    ----------
    topology : str or Topology
        The network.
    operator : {'min', 'max', 'sum'}
        What becomes of two items.
    root : int or str
        Who learns it: a number or an address.
    algorithm : str, optional
        The broadcast that is turned round; default: the first that applies.
    items : int
        Items of every processor, each of which is combined with the others'; in a pipeline where
        there are more than one: ``rarest``, ``trees`` (all ports), ``matching`` or ``cycle`` (one
        port); default: the fewest steps.
    ports : {'one', 'all'}
        Ports that a processor uses in a step.
    duplex : {'full', 'half'}
        Messages that a link carries in a step: one each way, or one.
    mapping : {'blocks', 'clusters', 'measured', 'random'}
        How ranks host processors; changes no result.
    record, record_steps, record_nodes : str, optional
        The file that gets what moved in which step; the steps ``A..B`` and the nodes ``0..15,20``
        that it is limited to.
    memory_limit : int or str, optional
        Bytes that the ranks of a host may take together, such as ``"4GiB"``.
    force : bool
        Whether to try what does not fit into the memory there is.
    seed : int
        For everything random.

    Examples
    --------
    >>> import mpinet
    >>> mpinet.reduce("hypercube:4").correct
    True
    """
    return perform(reduce, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Find root and algorithm."""
    from mpinet.programs.broadcast import require_algorithm
    from mpinet.programs.reduce import turned_round

    topology = topology_of(options)
    root = topology.find(str(options.root))
    if options.items != 1:
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

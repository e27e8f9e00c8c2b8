"""``mpinet scatter`` and ``mpinet gather``: from one processor to all, and from all to one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.collective import Collective
from mpinet.commands.job import Job
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
from mpinet.commands.result import Result
from mpinet.networks.topology import Topology

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


def scatter(
    topology: Network,
    *,
    root: Place = 0,
    algorithm: str | None = None,
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
    """Bring a different item from one processor to every other (collective).

    Parameters
    ----------
    topology : str or Topology
        The network.
    root : int or str
        The one processor: a number or an address.
    algorithm : str, optional
        ``tree``, ``routed`` or ``flow`` (fewest steps); default: the first that applies.
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
    >>> mpinet.scatter("ring:8").correct
    True
    """
    return perform(scatter, locals())


def gather(
    topology: Network,
    *,
    root: Place = 0,
    algorithm: str | None = None,
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
    """Bring an item from every processor to one (collective).

    Parameters
    ----------
    topology : str or Topology
        The network.
    root : int or str
        The one processor: a number or an address.
    algorithm : str, optional
        ``tree``, ``routed`` or ``flow`` (fewest steps); default: the first that applies.
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
    >>> mpinet.gather("ring:8").correct
    True
    """
    return perform(gather, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Find root and algorithm."""
    from mpinet.programs.gather import require_algorithm

    topology = topology_of(options)
    root = topology.find(str(options.root))
    model = port_model(options)
    algorithm = require_algorithm(topology, root, options.algorithm, options.command, model)
    return FromOrToOne(options, topology, root, algorithm)


class FromOrToOne(Collective):
    """A scatter or a gather."""

    def __init__(self, options: argparse.Namespace, topology: Topology, root: int, algorithm: str):
        super().__init__(options, topology)
        self._root = root
        self._algorithm = algorithm

    def needs(self, ranks: int) -> int:
        """As the algorithm needs."""
        from mpinet.programs import needs

        return needs.from_or_to_one(self.share(ranks), self._algorithm, self.options.command)

    def needs_once(self, ranks: int) -> int:
        """What the root's rank needs for all items."""
        from mpinet.programs import needs

        return needs.at_root(self.share(ranks), self._algorithm, self.options.command)

    def perform(self, machine: Machine) -> CollectiveResult:
        """Scatter or gather."""
        from mpinet.programs.gather import gather
        from mpinet.programs.scatter import scatter

        collective = scatter if self.options.command == "scatter" else gather
        options = self.options
        return collective(machine, self._root, options.algorithm, options.seed)

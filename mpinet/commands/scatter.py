"""``mpinet scatter`` and ``mpinet gather``: from one processor to all, and from all to one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.collective import Collective
from mpinet.commands.job import Job
from mpinet.commands.opening import Network, port_model, topology_of
from mpinet.commands.options import Algorithm, Common, OnMachine, Place, Ports, SavedOften, Views
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Unpack, command
from mpinet.networks.topology import Topology

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


@command(Views, SavedOften, Common)
def scatter(
    topology: Network,
    *,
    root: Place = 0,
    algorithm: Algorithm = None,
    ports: Ports = "one",
    **options: Unpack[OnMachine],
) -> Result:
    """Bring a different item from one processor to every other (collective).

    Parameters
    ----------
    root : int or str
        The one processor: a number or an address.
    algorithm : str, optional
        ``tree`` (links), ``routed`` or ``flow`` (the fewest steps); default: the first that
        applies.

    Returns
    -------
    Result
        algorithm, steps, messages, lower_bound, lower_by (as of ``broadcast``), correct, phases.

    Examples
    --------
    >>> import mpinet
    >>> mpinet.scatter("ring:8").correct
    True
    """
    return perform(scatter, locals())


@command(Views, SavedOften, Common)
def gather(
    topology: Network,
    *,
    root: Place = 0,
    algorithm: Algorithm = None,
    ports: Ports = "one",
    **options: Unpack[OnMachine],
) -> Result:
    """Bring an item from every processor to one (collective).

    Parameters
    ----------
    root : int or str
        The one processor: a number or an address.
    algorithm : str, optional
        ``tree`` (links), ``routed`` or ``flow`` (the fewest steps); default: the first that
        applies.

    Returns
    -------
    Result
        algorithm, steps, messages, lower_bound, lower_by (as of ``broadcast``), correct, phases.

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

"""``mpinet allreduce``: the least, the largest or the sum of everybody's items, at all of them."""

from __future__ import annotations

import argparse

from mpinet.commands.job import Job
from mpinet.commands.opening import Network, topology_of
from mpinet.commands.options import (
    Algorithm,
    Common,
    OnMachine,
    Operator,
    Ports,
    SavedOften,
    Switches,
    Views,
)
from mpinet.commands.perform import perform
from mpinet.commands.pipelined import Pipelined
from mpinet.commands.result import Result
from mpinet.commands.signature import Unpack, command


@command(Views, SavedOften, Common)
def allreduce(
    topology: Network,
    *,
    operator: Operator = "min",
    algorithm: Algorithm = None,
    items: int = 1,
    switches: Switches = "forward",
    ports: Ports = "one",
    **options: Unpack[OnMachine],
) -> Result:
    """Combine the items of all processors at all of them (collective).

    Parameters
    ----------
    topology : str or Topology
        The network, of links.
    operator : {'min', 'max', 'sum'}
        What becomes of two items; sums are taken modulo 2^64.
    algorithm : str, optional
        ``rarest``, ``trees`` (all ports), ``matching`` or ``cycle`` (one port), ``paths`` (through
        switches that forward); default: the fewest steps.
    items : int
        Items of every processor, each of which is combined with those of the others.
    duplex : {'full', 'half'}
        Messages that a link carries in a step: one each way, or one (not for allreduce).

    Returns
    -------
    Result
        items, operator, value (of item 0, 0..2^64-1), algorithm, steps, messages, lower_bound,
        lower_by (as of ``broadcast``; ``optimum --items`` has the certificates), correct, phases,
        bandwidth (so many items in so many steps, a pair, or null). See docs/how-to/pipelines.

    Examples
    --------
    >>> import mpinet
    >>> found = mpinet.allreduce("ring:8", operator="sum", items=8)
    >>> found.steps, found.lower_bound
    (14, 14)
    """
    return perform(allreduce, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Check the algorithm."""
    return Pipelined(options, topology_of(options))

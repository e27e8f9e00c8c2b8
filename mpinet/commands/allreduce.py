"""``mpinet allreduce``: the least, the largest or the sum of everybody's items, at all of them."""

from __future__ import annotations

import argparse
from typing import Literal

from mpinet.commands.job import Job
from mpinet.commands.options import Bytes, Duplex, File, Hosted, Network, Ports, topology_of
from mpinet.commands.perform import perform
from mpinet.commands.pipelined import Pipelined
from mpinet.commands.result import Result


def allreduce(
    topology: Network,
    *,
    operator: Literal["min", "max", "sum"] = "min",
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
    """Combine the items of all processors at all of them (collective).

    Parameters
    ----------
    topology : str or Topology
        The network, of links.
    operator : {'min', 'max', 'sum'}
        What becomes of two items; sums are taken modulo 2^64.
    algorithm : str, optional
        ``rarest``, ``trees`` (all ports), ``matching`` or ``cycle`` (one port); default: the fewest
        steps.
    items : int
        Items of every processor, each of which is combined with those of the others.
    ports : {'one', 'all'}
        Ports that a processor uses in a step.
    duplex : {'full', 'half'}
        Messages that a link carries in a step: one each way, or one (not for allreduce).
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
    >>> found = mpinet.allreduce("ring:8", operator="sum", items=8)
    >>> found.steps, found.lower_bound
    (14, 14)
    """
    return perform(allreduce, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Check the algorithm."""
    return Pipelined(options, topology_of(options))

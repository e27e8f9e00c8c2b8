"""``mpinet load``: latency and throughput under open-loop traffic."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mpinet.commands.job import Job
from mpinet.commands.loadcurves import LoadCurves, journal_of
from mpinet.commands.loadruns import load_of
from mpinet.commands.opening import Network
from mpinet.commands.options import (
    Common,
    FaultWords,
    File,
    OnHosts,
    RoutingName,
    SavedOften,
)
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, Unpack, command
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology

Rates = Annotated[str | float | int | Sequence[float], Typed(read=str, metavar="RATE")]


@command(SavedOften, Common)
def load(
    topology: Network | Sequence[Any],
    *,
    pattern: Annotated[
        str, Typed(metavar="PATTERN", listed="mpinet.programs.patterns:NAMES")
    ] = "uniform",
    rate: Rates = "0.02..0.2/10",
    flits: str | int = "1",
    switching: Literal["saf", "vct", "wormhole"] = "wormhole",
    buffers: int = 4,
    vcs: int | None = None,
    policy: Literal["rotating", "oldest", "fifo"] = "rotating",
    classes: Literal["none", "dateline", "wrap", "hops", "ordered", "own"] | None = None,
    routing: RoutingName = None,
    warmup: int = 500,
    steps: int = 1000,
    limit: int = 5000,
    bursts: Annotated[str | float | int | None, Typed(metavar="B[:Q]")] = None,
    crossbar: Literal["one", "all"] = "one",
    eject: Literal["one", "all"] = "one",
    link_delay: int = 1,
    faults: FaultWords = None,
    seeds: int = 1,
    plot: File | None = None,
    **options: Unpack[OnHosts],
) -> Result:
    """Measure latency and throughput where processors generate messages all the time (collective).

    Parameters
    ----------
    topology : str, Topology, or a sequence of them
        Networks to measure.
    pattern : str
        Traffic pattern: who sends to whom; or several patterns, joined by commas.
    rate : float, str or sequence of float
        Messages per processor and step: ``R``, ``A,B,C`` or ``A..B/K``, K rates from A to B.
    flits : int or str
        Flits per message: ``F``, or ``F1:p1,F2:p2``, two lengths with their shares.
    switching : {'wormhole', 'vct', 'saf'}
        Switching of messages: flit by flit, cut through, or stored and forwarded (saf).
    buffers : int
        Flits that the buffer of a virtual channel holds; 0: without limit.
    vcs : int, optional
        Virtual channels per link; default: 2, or as many as there are classes, if more.
    policy : {'rotating', 'oldest', 'fifo'}
        Message that is granted an output first.
    classes : {'none', 'dateline', 'wrap', 'hops', 'ordered', 'own'}, optional
        Classes of channels; default: the routing's own, else the network's, with which it cannot
        come to a deadlock.
    routing : str, optional
        Routing of the networks; default: the first of each.
    warmup, steps, limit : int
        Steps before the window, of the window, and that its messages are waited for.
    bursts : float or str, optional
        Mean steps of a burst, ``B``, or ``B:Q`` with the rate while it is on.
    crossbar, eject : {'one', 'all'}
        Flits that leave an input port, and that a processor takes, in a step.
    link_delay : int
        Steps that a flit takes over a link.
    seeds : int
        Curves of each network and pattern, with consecutive seeds.
    plot : path, optional
        Picture of latency over rate, .pdf, .svg or .png, with the mean's interval over seeds.
    seed : int
        Seed of everything random; with several seeds the first one.

    Returns
    -------
    Result
        curves: a list, one a network (of several patterns P,Q,.. or seeds: one for each of them,
        with pattern and seed), {network, routing, classes, vcs (not in the digest), bound,
        better_routing, saturation_point, saturation_throughput, points}; a point has rate, steps,
        closed, generated, generated_flits, accepted, accepted_flits, delivered, undeliverable,
        unfinished, latency_sum, network_latency_sum, hops_sum, latency_max, latency_p50,
        latency_p95, latency_p99,
        loads_sum, loads_max, moves, backlog_before, backlog_after, source_queue_max,
        node_flits_max, stuck_flits, deadlock, last_move, cycle, cycle_messages, batches, seal,
        offered, throughput, latency_mean, latency_ci95, network_latency_mean, hops_mean,
        utilisation_mean, utilisation_max, jain, saturated (docs/reference/traffic).

    Examples
    --------
    >>> import mpinet
    >>> found = mpinet.load("mesh:4x4", rate=0.1, steps=200)
    >>> found.curves[0].bound, found.curves[0].points[0].saturated
    (1.0, False)
    """
    return perform(load, locals())


SEVERAL = re.compile(r",(?=[^0-9])")
"""Separator of patterns: a comma, but not that of ``hotspot:0,10``."""


def prepare(options: argparse.Namespace) -> Job:
    """Prepare one curve per network, or one for every network, pattern and seed."""
    patterns = SEVERAL.split(options.pattern)
    kept = journal_of(getattr(options, "out", None)) is not None
    if len(patterns) == 1 and options.seeds == 1 and options.plot is None and not kept:
        return load_of(options)
    named = options.topology
    networks = [named] if isinstance(named, str | Topology) else list(named)
    if not networks:
        raise UsageError("load needs a network.")
    return LoadCurves(options, networks, list(dict.fromkeys(patterns)))

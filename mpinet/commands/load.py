"""``mpinet load``: latency and throughput under open-loop traffic."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mpinet.commands.fields import When
from mpinet.commands.job import Job
from mpinet.commands.loadcurves import BetweenSeeds, LoadCurve
from mpinet.commands.loadjob import Load
from mpinet.commands.loadplan import fitting, plan_file, plan_text, require_known, variants_of
from mpinet.commands.loadruns import journal_of, read_seeds, settings_of
from mpinet.commands.opening import Network, topology_of, with_more
from mpinet.commands.options import (
    Common,
    FaultWords,
    File,
    Numbers,
    OnHosts,
    SavedOften,
    numbers_or_file,
)
from mpinet.commands.perform import perform
from mpinet.commands.plot import ENDINGS
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, Unpack, command
from mpinet.errors import UsageError
from mpinet.machine.timed.program import Program
from mpinet.machine.traffic.layout import Policy, Switching
from mpinet.networks.topology import Topology
from mpinet.report.drawing.figure import library
from mpinet.report.files import require_file
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.experiments.load import Setting

Routings = Annotated[
    str | Sequence[str] | None,
    Typed(
        "Routing of the networks; default: the first of each. Several, joined by commas, are a "
        "curve each, on the networks that have them. ``table:FILE.csv`` is a table of next nodes.",
        read=str,
        metavar="NAME,..",
    ),
]
Delays = Annotated[str | int | Sequence[int], Typed(read=numbers_or_file, metavar="D,..|FILE.csv")]
Rates = Annotated[str | float | int | Sequence[float], Typed(read=str, metavar="RATE")]


class LoadResult(Result):
    """Result of ``load``."""

    curves: list[LoadCurve]
    between_seeds: Annotated[list[BetweenSeeds], When("of several seeds"), "not in the digest"]


@command(SavedOften, Common)
def load(
    topology: Network | Sequence[Any],
    *more: Network,
    pattern: Annotated[
        str, Typed(metavar="PATTERN", listed="mpinet.programs.patterns:NAMES")
    ] = "uniform",
    priority: bool = False,
    rate: Rates = "0.02..0.2/10",
    flits: Annotated[str | int | Sequence[int | str], Typed(read=str, metavar="FLITS")] = "1",
    switching: Switching = "wormhole",
    buffers: Numbers = 4,
    vcs: Numbers | None = None,
    policy: Policy = "rotating",
    iterations: int = 1,
    classes: Literal["none", "dateline", "wrap", "hops", "ordered", "bubble", "own"] | None = None,
    routing: Routings = None,
    warmup: Annotated[int | str, Typed(read=str, metavar="W|auto")] = 500,
    steps: int = 1000,
    limit: int = 5000,
    replies: int | None = None,
    service: int = 1,
    outstanding: int | None = None,
    batch: int | None = None,
    phases: int = 1,
    program: Annotated[str | Path | Program | None, Typed(read=str, metavar="PROGRAM")] = None,
    flit_bytes: int = 8,
    step_time: int = 1,
    place: Annotated[str, Typed(metavar="HOW")] = "identity",
    intervals: int | None = None,
    until: Annotated[str | float | None, Typed(read=str, metavar="P%")] = None,
    saturation: Annotated[float | None, Typed(metavar="RATE")] = None,
    bursts: Annotated[str | float | int | None, Typed(metavar="B[:Q]")] = None,
    crossbar: Annotated[str | int, Typed(read=str, metavar="one|all|K")] = "one",
    eject: Literal["one", "all"] = "one",
    link_delay: Delays = 1,
    router_delay: int = 0,
    output_queue: Annotated[str | int, Typed(read=str, metavar="Q[:S]")] = "0",
    faults: FaultWords = None,
    energy: Annotated[str | None, Typed(metavar="link:E,..")] = None,
    seeds: Annotated[int | str | Sequence[int], Typed(read=str, metavar="K|A..B")] = 1,
    plot: File | None = None,
    **options: Unpack[OnHosts],
) -> LoadResult:
    """Measure latency and throughput where processors generate messages all the time (collective).

    Parameters
    ----------
    topology, *more : str, Topology or networkx.Graph, or a sequence of them
        Networks to measure.
    pattern : str
        Traffic pattern: who sends to whom; or several patterns, joined by commas.
    priority : bool
        Whether messages of each pattern of a ``mix:P@SHARE+Q`` go before those of the next: each
        has its part of the virtual channels, and latencies and rates of its own.
    rate : float, str or sequence of float
        Messages per processor and step: ``R``, ``A,B,C`` or ``A..B/K``, K rates from A to B.
    flits : int, str or sequence of them
        Flits per message: ``F``, or ``F1:p1,F2:p2``, two lengths with their shares; ``F,G,..``: a
        curve for each.
    switching : {'saf', 'vct', 'wormhole'}
        Switching of messages: flit by flit, cut through, or stored and forwarded (saf).
    buffers : int or sequence of int
        Flits that the buffer of a virtual channel holds; 0: without limit; ``A,B,..``: a curve for
        each.
    vcs : int or sequence of int, optional
        Virtual channels per link, ``A,B,..``: a curve for each; default: 2, or as many as there are
        classes, if more.
    policy : {'oldest', 'fifo', 'rotating', 'inputfirst', 'outputfirst', 'islip', 'wavefront'}
        Message that is granted an output first, or how inputs and outputs are matched.
    iterations : int
        Rounds in which inputs and outputs are matched, with inputfirst, outputfirst and islip.
    classes : {'none', 'dateline', 'wrap', 'hops', 'ordered', 'bubble', 'own'}, optional
        Classes of channels; default: the routing's own, else the network's, with which it cannot
        come to a deadlock.
    warmup : int or str
        Steps before the window; ``auto``: as many as a pilot run shows (MSER-5).
    steps : int
        Steps of the window.
    limit : int
        Most steps that the window's messages are waited for, after it.
    replies : int, optional
        Flits of the reply that the target of each message sends back to its source.
    service : int
        Steps from a request's last flit to the birth of its reply.
    outstanding : int, optional
        Requests without a reply that a processor has under way at most; others wait at the source.
    batch : int, optional
        Messages that every processor generates: the run ends when all are done, and all of it is
        measured, instead of a window.
    phases : int
        Batches; each begins when all messages of the one before are done.
    program : str, Path or Program, optional
        What processors send, receive and calculate, in place of a pattern and rates: a collective
        of the textbooks, COLLECTIVE:ALGORITHM,BYTES, a GOAL file, or a schedule's file (.csv, .npz,
        .xml), whose chunks have --flits flits. The run ends when all operations are done.
    flit_bytes : int
        Bytes of a flit: a program's messages have as many flits as their bytes take.
    step_time : int
        Units of a program's calcs that a step takes.
    place : str
        Processors of the network for those of the program: identity, random, snake, cycle, or a
        file with a processor a line.
    intervals : int, optional
        Steps of the intervals of the window, of each of which the flits that are offered, accepted
        and carried by each channel are told.
    until : float or str, optional
        Part of the mean latency, ``2%`` or 0.02: the window is doubled, 6 times at most, until the
        95 % confidence interval reaches no farther to either side.
    saturation : float, optional
        Resolution of rates with which the rate of saturation is searched for, by bisection; with
        windows of less than some hundred steps it is found too low or too high.
    bursts : float or str, optional
        Mean steps of a burst, ``B``, or ``B:Q`` with the rate while it is on.
    crossbar : str or int
        Flits that leave an input port in a step: ``one``, a number, or ``all``, one of each lane.
    eject : {'one', 'all'}
        Flits that a processor takes in a step.
    link_delay : int, sequence of int or str
        Steps that a flit takes over a link; ``A,B,..``: over one of class 0, 1, .. (dimension, or
        local and global), the last for all further classes; a file of lines ``node,x,y,..``: by the
        length of its cable, a step for each unit along the axes.
    router_delay : int
        Steps that a flit is in a router before it can be granted an output.
    output_queue : int or str
        Flits that wait behind each output for its channel; ``Q:S``: an output takes S in a step at
        most, else as many as there is room for.
    faults : str, optional
        Dead nodes and links, ``node:U,link:U-V,..``, or a file of such words; ``node:U@FROM`` dies
        at the begin of step FROM, and with ``@FROM-TO`` is back at that of step TO.
    energy : str, optional
        Energies of a bit in any unit, ``link:E,router:E,bits:B`` with the bits of a flit; points
        then have the energy of the window, and for each accepted bit.
    seeds : int, str or sequence of int
        Curves of each network and pattern, K with consecutive seeds, or ``A..B`` or ``A,B,..``:
        with these; the result has the intervals between them.
    plot : path, optional
        Picture of latency over rate, .pdf, .svg or .png, with the mean's interval over seeds.
        Beside it a plan of the same name, .toml, by which ``mpinet sweep`` makes it again.
    seed : int
        Seed of everything random; with several seeds the first one.

    Returns
    -------
    Result
        There is a curve for each network; of several patterns P,Q,.. or seeds one for each of them,
        of several routings, vcs, flits or buffers one for each combination. See
        docs/reference/traffic.

    Examples
    --------
    ``mpinet load torus:8x8 --rate 0.1..0.5/5``

    ``mpinet load torus:8x8 hypercube:6 --plot latency.svg``

    >>> import mpinet
    >>> found = mpinet.load("mesh:4x4", rate=0.1, steps=200)
    >>> found.curves[0].bound, found.curves[0].points[0].saturated
    (1.0, False)
    """
    return perform(load, with_more(locals()))


SEVERAL = re.compile(r",(?=[^0-9])")
"""Separator of patterns: a comma, but not that of ``hotspot:0,10``."""


def prepare(options: argparse.Namespace) -> Job:
    """Prepare a curve for every network, pattern and seed; refuse what does not go together."""
    folder = journal_of(getattr(options, "out", None))
    named = options.topology
    networks = [named] if isinstance(named, str | Topology) else list(named)
    if not networks:
        raise UsageError("load needs a network.")
    patterns, seeds = list(dict.fromkeys(SEVERAL.split(options.pattern))), read_seeds(options)
    topologies = [topology_of(argparse.Namespace(topology=network)) for network in networks]
    variants = variants_of(options)
    lacking = require_known(topologies, variants)
    chosen = [(topology, fitting(topology, variants)) for topology in topologies]
    settings: list[Setting] = []
    curves: list[Row] = []
    for pattern in patterns:
        for topology, fit in chosen:
            for variant in fit:
                given = argparse.Namespace(**vars(options) | variant)
                made = settings_of(given, topology, pattern, seeds)
                settings += made
                curves += [variant] * len(made)
    job = Load(options, settings, curves, patterns, lacking, folder)
    if options.plot is not None:
        path = Path(options.plot)
        require_file(path, ENDINGS, "a plot's file")
        plan_file(path)
        library()
        by_name = [(topology.name, fit) for topology, fit in chosen]
        job.plan = plan_text(load, options, by_name, patterns, job.drawn(path, len(by_name)))
    return job

"""``mpinet load``: latency and throughput under open-loop traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mpinet.base.choices import Policy, Switching
from mpinet.commands.fields import When
from mpinet.commands.functions import function_of_several
from mpinet.commands.loadresult import BetweenSeeds, LoadCurve
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, File, In, SavedOften, Seed, Several, Typed, late
from mpinet.commands.options import FaultWords, HostOptions, Numbers, numbers_or_file
from mpinet.commands.result import Result
from mpinet.errors import UsageError

if TYPE_CHECKING:
    from mpinet.machine.timed.program import Program
else:
    Program = late("mpinet.machine.timed.program", "Program")


Routings = Annotated[
    str | Several[str] | None,
    Typed(
        "Routing of the networks; default: the first of each. Several, joined by commas: a curve "
        "for each, on networks that have the routing. ``table:FILE.csv`` is a table of next nodes.",
        read=str,
        metavar="NAME,..",
        several="NAME,NAME",
    ),
    In.NETWORK,
]


Delays = Annotated[
    str | int | Several[int], Typed(read=numbers_or_file, metavar="D,..|FILE.csv", several="1,4")
]


Rates = Annotated[
    str | float | int | Several[float] | None, Typed(read=str, metavar="RATE", several="0.1,0.2")
]


def as_pattern(given: str | Sequence[Any]) -> str:
    """Return patterns, or a list of the processors' targets, as typed text."""
    if isinstance(given, str):
        return given
    if given and all(isinstance(one, str) for one in given):
        return ",".join(given)
    if not given or any(type(one) is not int for one in given):
        raise UsageError(
            "load: pattern is a text, a list of patterns, or a list with each processor's target, "
            f"not {given!r}."
        )
    # The typed form makes the command line in the document repeat the same run.
    return f"targets:{'-'.join(map(str, given))}"


class LoadResult(Result):
    """Result of ``load``."""

    curves: list[LoadCurve]
    between_seeds: Annotated[list[BetweenSeeds], When("of several seeds"), "not in the digest"]


@dataclass(frozen=True)
class LoadOptions(HostOptions):
    """Measure latency and throughput under open-loop traffic (collective).

    Every processor generates messages at a given rate, independently of the network's state.

    Returns
    -------
    Result
        The result has a curve for each network, and for each combination of patterns, seeds,
        routings,
        vcs, flits and buffers if several are given. See docs/reference/traffic.

    Examples
    --------
    ``mpinet load torus:8x8 --rate 0.1..0.5/5``

    ``mpinet load torus:8x8 hypercube:6 --plot latency.svg``

    >>> import mpinet
    >>> found = mpinet.load("mesh:4x4", rate=0.1, steps=200)
    >>> found.curves[0].bound, found.curves[0].points[0].saturated
    (1.0, False)
    """

    command = "load"
    topology: Network | Several[Any]
    _: KW_ONLY
    pattern: Annotated[
        str | Several[int | str],
        Typed(
            words=("--pattern", "--pairs"),
            read=str,
            metavar="PATTERN",
            listed="mpinet.base.choices:PATTERNS",
            normal=as_pattern,
            several="uniform,tornado",
        ),
        In.TRAFFIC,
    ] = "uniform"
    """Traffic pattern, or several joined by commas; in Python also a list of the processors'
    targets."""
    priority: Annotated[bool, In.TRAFFIC] = False
    """Give priority to messages of earlier patterns in a ``mix:P@SHARE+Q``. Each pattern has its
    own part of the virtual channels, and its own latencies and rates in the result."""
    rate: Annotated[Rates, In.TRAFFIC] = None
    """Messages per processor and step: ``R``, ``A,B,C`` or ``A..B/K`` (K rates from A to B).
    Default: 0.1 to 1.1 times the bound in steps of 0.1; without a bound, ten rates from 0.01 to 1
    flits per step."""
    flits: Annotated[
        str | int | Several[int | str], Typed(read=str, metavar="FLITS", several="1,4"), In.TRAFFIC
    ] = "1"
    """Flits per message: ``F``; ``F1:p1,F2:p2``, two lengths with their shares; or ``F,G,..``, a
    curve for each length."""
    switching: Annotated[Switching, In.ROUTER] = "wormhole"
    """Switching: flit by flit (wormhole), cut-through, or store and forward (saf)."""
    buffers: Annotated[Numbers, In.ROUTER] = 4
    """Buffer of a virtual channel, in flits; 0: unlimited; ``A,B,..``: a curve for each size."""
    vcs: Annotated[Numbers | None, In.ROUTER] = None
    """Virtual channels per link; ``A,B,..``: a curve for each number. Default: the number of
    classes, at least 2."""
    policy: Annotated[Policy, In.ROUTER] = "rotating"
    """Arbitration: the message that gets an output first, or the matching of inputs and outputs."""
    iterations: Annotated[int, In.ROUTER] = 1
    """Rounds of matching inputs and outputs, for the policies inputfirst, outputfirst and islip."""
    classes: Annotated[
        Literal["none", "dateline", "wrap", "hops", "ordered", "bubble", "own"] | None, In.ROUTER
    ] = None
    """Classes of channels against deadlocks; default: the routing's own classes, else the network's
    deadlock-free classes."""
    routing: Routings = None
    warmup: Annotated[int | str, Typed(read=str, metavar="W|auto"), In.MEASUREMENT] = 500
    """Steps before the measurement window; ``auto``: determined by a pilot run (MSER-5)."""
    steps: Annotated[int, In.MEASUREMENT] = 1000
    """Steps of the measurement window."""
    limit: Annotated[int, In.MEASUREMENT] = 5000
    """Largest number of steps after the window in which the window's messages may still arrive."""
    replies: Annotated[int | None, In.TRAFFIC] = None
    """Flits of the reply to each message."""
    service: Annotated[int, In.TRAFFIC] = 1
    """Steps from the last flit of a request to the creation of its reply."""
    outstanding: Annotated[int | None, In.TRAFFIC] = None
    """Largest number of unanswered requests per processor; further requests wait at the source."""
    batch: Annotated[int | None, In.TRAFFIC] = None
    """Messages per processor: the run ends when all are delivered, and the whole run is measured
    instead of a window."""
    phases: Annotated[int, In.TRAFFIC] = 1
    """Number of batches; a batch begins when all messages of the previous batch are delivered."""
    program: Annotated[
        str | Path | Program | None, Typed(read=str, metavar="PROGRAM"), In.PROGRAM
    ] = None
    """Program of messages instead of a pattern and rates: a textbook algorithm of a collective,
    COLLECTIVE:ALGORITHM,BYTES, a GOAL file, or a schedule file (.csv, .npz, .xml) whose chunks have
    --flits flits. The run ends when all operations are complete."""
    flit_bytes: Annotated[int, In.PROGRAM] = 8
    """Bytes per flit, for the messages of a program."""
    step_time: Annotated[int, In.PROGRAM] = 1
    """Time units of a program's calcs per step."""
    place: Annotated[str, Typed(metavar="HOW"), In.NETWORK] = "identity"
    """Mapping of a program's processors to the network: identity, random, snake, cycle, or a file
    with one processor per line."""
    intervals: Annotated[int | None, In.MEASUREMENT] = None
    """Length in steps of the window's intervals; offered, accepted and per-channel flits are
    reported for each interval."""
    until: Annotated[str | float | None, Typed(read=str, metavar="P%"), In.MEASUREMENT] = None
    """Target precision as a part of the mean latency, ``2%`` or 0.02: the window is doubled (at
    most 6 times) until half the 95 % confidence interval is smaller."""
    saturation: Annotated[float | None, Typed(metavar="RATE"), In.MEASUREMENT] = None
    """Search for the saturation rate by bisection down to this resolution. Windows below some
    hundred steps give wrong rates."""
    bursts: Annotated[str | float | int | None, Typed(metavar="B[:Q]"), In.TRAFFIC] = None
    """Mean length of a burst in steps, ``B``; or ``B:Q`` with the rate Q during a burst."""
    crossbar: Annotated[str | int, Typed(read=str, metavar="one|all|K"), In.ROUTER] = "one"
    """Flits that leave an input port per step: ``one``, a number, or ``all`` (one per virtual
    channel)."""
    eject: Annotated[Literal["one", "all"], In.ROUTER] = "one"
    """Flits that a processor accepts per step."""
    link_delay: Annotated[Delays, In.NETWORK] = 1
    """Steps of a flit on a link; ``A,B,..``: by class of the link (dimension, or local and global),
    the last value for all further classes; a file of lines ``node,x,y,..``: by cable length, one
    step per unit along the axes."""
    router_delay: Annotated[int, In.ROUTER] = 0
    """Steps that a flit spends in a router before an output can be granted."""
    output_queue: Annotated[str | int, Typed(read=str, metavar="Q[:S]"), In.ROUTER] = "0"
    """Flits that wait at each output for the channel; ``Q:S``: an output accepts at most S flits
    per step (default: any number that fits)."""
    faults: FaultWords = None
    """Dead nodes and links, ``node:U,link:U-V,..``, or a file with such words; ``node:U@FROM``
    fails at the beginning of step FROM, and with ``@FROM-TO`` works again from step TO."""
    energy: Annotated[str | None, Typed(metavar="link:E,.."), In.MEASUREMENT] = None
    """Energy per bit in any unit, ``link:E,router:E,bits:B`` with B bits per flit. Each point then
    reports the energy of the window and the energy per accepted bit."""
    seeds: Annotated[
        int | str | Several[int], Typed(read=str, metavar="K|A..B"), In.MEASUREMENT
    ] = 1
    """Number of curves for each network and pattern, with consecutive seeds; or the seeds, ``A..B``
    or ``A,B,..``. The result then has confidence intervals over the seeds."""
    plot: Annotated[File | None, In.OUTPUT] = None
    """Picture of latency over rate (.pdf, .svg, .png), with confidence intervals over seeds. A plan
    of the same name (.toml), for ``mpinet sweep``, is written next to the picture."""
    seed: Annotated[Seed, In.MEASUREMENT] = 0
    """Random seed; with several seeds the first seed."""


load = function_of_several(LoadOptions, LoadResult, SavedOften, Common)

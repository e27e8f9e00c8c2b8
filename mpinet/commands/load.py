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
from mpinet.commands.optionrecords import Common, File, SavedOften, Seed, Several, Typed, late
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
        "Routing of the networks; default: the first of each. Several, joined by commas, are a "
        "curve each, on the networks that have them. ``table:FILE.csv`` is a table of next nodes.",
        read=str,
        metavar="NAME,..",
        several="NAME,NAME",
    ),
]


Delays = Annotated[
    str | int | Several[int], Typed(read=numbers_or_file, metavar="D,..|FILE.csv", several="1,4")
]


Rates = Annotated[
    str | float | int | Several[float] | None, Typed(read=str, metavar="RATE", several="0.1,0.2")
]


def as_pattern(given: str | Sequence[Any]) -> str:
    """Return patterns, or the processors' targets, as they are typed."""
    if isinstance(given, str):
        return given
    if given and all(isinstance(one, str) for one in given):
        return ",".join(given)
    if not given or any(type(one) is not int for one in given):
        raise UsageError(
            "load: pattern is text, a list of patterns, or a list with the number of each "
            f"processor's target, not {given!r}."
        )
    # A list becomes the pattern's own word, so that the document's command line makes the same run.
    return f"targets:{'-'.join(map(str, given))}"


class LoadResult(Result):
    """Result of ``load``."""

    curves: list[LoadCurve]
    between_seeds: Annotated[list[BetweenSeeds], When("of several seeds"), "not in the digest"]


@dataclass(frozen=True)
class LoadOptions(HostOptions):
    """Measure latency and throughput where processors generate messages all the time (collective).

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
    ] = "uniform"
    """Traffic pattern, or several, joined by commas; in Python also a list of the processors'
    targets."""
    priority: bool = False
    """Let messages of each pattern of a ``mix:P@SHARE+Q`` go before those of the next: each has its
    part of the virtual channels, and latencies and rates of its own."""
    rate: Rates = None
    """Messages per processor and step: ``R``, ``A,B,C`` or ``A..B/K``, K rates from A to B.
    Default: tenths of the bound, up to 1.1 of it; without a bound, ten rates from 0.01 to 1 flits
    per step."""
    flits: Annotated[
        str | int | Several[int | str], Typed(read=str, metavar="FLITS", several="1,4")
    ] = "1"
    """Flits per message: ``F``, or ``F1:p1,F2:p2``, two lengths with their shares; ``F,G,..``: a
    curve for each."""
    switching: Switching = "wormhole"
    """Switching of messages: flit by flit, cut through, or stored and forwarded (saf)."""
    buffers: Numbers = 4
    """Flits that the buffer of a virtual channel holds; 0: without limit; ``A,B,..``: a curve for
    each."""
    vcs: Numbers | None = None
    """Virtual channels per link, ``A,B,..``: a curve for each; default: 2, or as many as there are
    classes, if more."""
    policy: Policy = "rotating"
    """Message that is granted an output first, or how inputs and outputs are matched."""
    iterations: int = 1
    """Rounds in which inputs and outputs are matched, with inputfirst, outputfirst and islip."""
    classes: Literal["none", "dateline", "wrap", "hops", "ordered", "bubble", "own"] | None = None
    """Classes of channels; default: the routing's own, else the network's, with which it cannot
    come to a deadlock."""
    routing: Routings = None
    warmup: Annotated[int | str, Typed(read=str, metavar="W|auto")] = 500
    """Steps before the window; ``auto``: as many as a pilot run shows (MSER-5)."""
    steps: int = 1000
    """Steps of the window."""
    limit: int = 5000
    """Most steps that the window's messages are waited for, after it."""
    replies: int | None = None
    """Flits of the reply that the target of each message sends back to its source."""
    service: int = 1
    """Steps from a request's last flit to the birth of its reply."""
    outstanding: int | None = None
    """Requests without a reply that a processor has under way at most; others wait at the
    source."""
    batch: int | None = None
    """Messages that every processor generates: the run ends when all are done, and all of it is
    measured, instead of a window."""
    phases: int = 1
    """Batches; each begins when all messages of the one before are done."""
    program: Annotated[str | Path | Program | None, Typed(read=str, metavar="PROGRAM")] = None
    """Program of messages, in place of a pattern and rates: a collective of the textbooks,
    COLLECTIVE:ALGORITHM,BYTES, a GOAL file, or a schedule's file (.csv, .npz, .xml), whose chunks
    have --flits flits. The run ends when all operations are done."""
    flit_bytes: int = 8
    """Bytes of a flit: a program's messages have as many flits as their bytes take."""
    step_time: int = 1
    """Units of a program's calcs that a step takes."""
    place: Annotated[str, Typed(metavar="HOW")] = "identity"
    """Processors of the network for those of the program: identity, random, snake, cycle, or a file
    with a processor a line."""
    intervals: int | None = None
    """Steps of the intervals of the window, of each of which the flits that are offered, accepted
    and carried by each channel are told."""
    until: Annotated[str | float | None, Typed(read=str, metavar="P%")] = None
    """Part of the mean latency, ``2%`` or 0.02: the window is doubled, 6 times at most, until the
    95 % confidence interval reaches no farther to either side."""
    saturation: Annotated[float | None, Typed(metavar="RATE")] = None
    """Resolution of rates with which the rate of saturation is searched for, by bisection; with
    windows of less than some hundred steps it is found too low or too high."""
    bursts: Annotated[str | float | int | None, Typed(metavar="B[:Q]")] = None
    """Mean steps of a burst, ``B``, or ``B:Q`` with the rate while it is on."""
    crossbar: Annotated[str | int, Typed(read=str, metavar="one|all|K")] = "one"
    """Flits that leave an input port in a step: ``one``, a number, or ``all``, one of each lane."""
    eject: Literal["one", "all"] = "one"
    """Flits that a processor takes in a step."""
    link_delay: Delays = 1
    """Steps that a flit takes over a link; ``A,B,..``: over one of class 0, 1, .. (dimension, or
    local and global), the last for all further classes; a file of lines ``node,x,y,..``: by the
    length of its cable, a step for each unit along the axes."""
    router_delay: int = 0
    """Steps that a flit is in a router before it can be granted an output."""
    output_queue: Annotated[str | int, Typed(read=str, metavar="Q[:S]")] = "0"
    """Flits that wait behind each output for its channel; ``Q:S``: an output takes S in a step at
    most, else as many as there is room for."""
    faults: FaultWords = None
    """Dead nodes and links, ``node:U,link:U-V,..``, or a file of such words; ``node:U@FROM`` dies
    at the begin of step FROM, and with ``@FROM-TO`` is back at that of step TO."""
    energy: Annotated[str | None, Typed(metavar="link:E,..")] = None
    """Energies of a bit in any unit, ``link:E,router:E,bits:B`` with the bits of a flit; points
    then have the energy of the window, and for each accepted bit."""
    seeds: Annotated[int | str | Several[int], Typed(read=str, metavar="K|A..B")] = 1
    """Curves of each network and pattern, K with consecutive seeds, or ``A..B`` or ``A,B,..``: with
    these; the result has the intervals between them."""
    plot: File | None = None
    """Picture of latency over rate, .pdf, .svg or .png, with the mean's interval over seeds. Beside
    it a plan of the same name, .toml, by which ``mpinet sweep`` makes it again."""
    seed: Seed = 0
    """Seed of everything random; with several seeds the first one."""


load = function_of_several(LoadOptions, LoadResult, SavedOften, Common)

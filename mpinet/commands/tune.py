"""``mpinet tune``: find the fastest algorithm of a collective for each message size."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from mpinet.commands.fields import Fields, Lasting, Positive
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, File, In, Several, Typed, Unsaved
from mpinet.commands.result import ListResult
from mpinet.commands.timeoptions import TimeOptions

Collective = Literal["broadcast", "reduce", "allreduce", "allgather", "reduce-scatter", "alltoall"]


class TuneRow(Fields):
    """Time of an algorithm for one size, with a lower bound for all programs."""

    bytes: Positive
    algorithm: str
    time: Lasting
    best: Annotated[bool, "whether no other algorithm takes less time"]
    lower_bound: Lasting
    lower_by: Annotated[str, "distance, growth, ends or cut"]


class TuneResult(ListResult[TuneRow]):
    """Result of ``tune``."""


@dataclass(frozen=True)
class TuneOptions(TimeOptions):
    """Find the fastest algorithm of a collective for each message size (collective).

    Returns
    -------
    Result
        A row per size and algorithm.

    Examples
    --------
    ``mpinet tune allreduce --on torus:4x4 --bytes 1..1MB --machine slingshot``

    ``mpinet tune broadcast --flat 1us --processors 64 --gap-byte 300GB/s``

    >>> import mpinet
    >>> found = mpinet.tune("allreduce", on="ring:8", bytes="8,8kB", latency=100, time_byte=1)
    >>> [row.algorithm for row in found if row.best]
    ['bine-doubling', 'ring']
    """

    command = "tune"
    collective: Annotated[Collective, In.COLLECTIVE]
    """Collective to tune."""
    _: KW_ONLY
    bytes: Annotated[
        str | int, Typed(metavar="BYTES[,BYTES..|..BYTES]", several="1kB,1MB"), In.MEASUREMENT
    ] = "1..1MB"
    """Bytes of a processor's longest vector, such as ``1kB,1MB``, or ``1..1GB``: both ends, and
    every power of ten between them."""
    algorithms: Annotated[
        str | Several[str] | None,
        Typed(read=str, metavar="NAME,..", several="NAME,NAME"),
        In.COLLECTIVE,
    ] = None
    """Algorithms, joined by commas; default: all that support the number of processors."""
    processors: Annotated[int | None, Typed(metavar="P"), In.COLLECTIVE] = None
    """Number of processors that take part; default: all processors of the network."""
    segment: Annotated[int | str | None, Typed(metavar="BYTES"), In.COLLECTIVE] = None
    """Largest segment of a vector in bytes: longer vectors run through the algorithm in segments;
    default: no segments."""
    plot: Annotated[File | None, In.OUTPUT] = None
    """Picture of time over bytes (.pdf, .svg, .png), with a curve for each algorithm, and the
    bound."""


tune = function_with(TuneOptions, TuneResult, Unsaved, Common)

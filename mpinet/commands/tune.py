"""``mpinet tune``: which algorithm of a collective takes least time, for which size."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from mpinet.commands.fields import Fields, Lasting, Positive
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, File, Several, Typed, Unsaved
from mpinet.commands.result import ListResult
from mpinet.commands.timeoptions import TimeOptions

Collective = Literal["broadcast", "reduce", "allreduce", "allgather", "reduce-scatter", "alltoall"]


class TuneRow(Fields):
    """Time of an algorithm for a size, beside a bound that no program beats."""

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
    """Find the algorithm of a collective that takes least time, size by size (collective).

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
    collective: Collective
    """Collective."""
    _: KW_ONLY
    bytes: Annotated[str | int, Typed(metavar="BYTES[,BYTES..|..BYTES]", several="1kB,1MB")] = (
        "1..1MB"
    )
    """Sizes of a processor's longest vector, such as ``1kB,1MB``, or ``1..1GB``: every power of ten
    between, and both ends."""
    algorithms: Annotated[
        str | Several[str] | None, Typed(read=str, metavar="NAME,..", several="NAME,NAME")
    ] = None
    """Algorithms, joined by commas; default: all that there are for so many processors."""
    processors: Annotated[int | None, Typed(metavar="P")] = None
    """Processors that take part; default: all of the network."""
    segment: Annotated[int | str | None, Typed(metavar="BYTES")] = None
    """Most bytes of a vector that go through an algorithm together; default: all."""
    plot: File | None = None
    """Picture to draw, .pdf, .svg or .png: time over bytes, a curve for each algorithm, and the
    bound."""


tune = function_with(TuneOptions, TuneResult, Unsaved, Common)

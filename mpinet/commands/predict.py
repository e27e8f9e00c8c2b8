"""``mpinet predict``: play one rank of many on one process; tell what it would need and send."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Literal

from mpinet.base.numerals import quoted
from mpinet.commands.fields import Count, Fields
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Options, Typed
from mpinet.commands.result import Result


def positive(text: str) -> float:
    """Read a positive number."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ValueError(f"{quoted(text)} is no positive number")
    return number


class PredictedMemory(Fields):
    """Bytes of a process: at most, and before the run."""

    peak: Count
    before: Count


class Modelled(Fields):
    """Seconds of a run, by the model."""

    computing: float
    latency: float
    transfer: float
    total: float


class PredictResult(Result):
    """Result of ``predict``."""

    rank: Count
    ranks: Count
    processors: Count
    steps: Count
    messages: Count
    bytes: Count
    all_messages: Count
    all_bytes: Count
    partners: Count
    modelled: list[str]
    memory: PredictedMemory
    seconds: Modelled


@dataclass(frozen=True)
class PredictOptions(Options):
    """Predict what one rank of many needs and sends, on one process.

    Examples
    --------
    ``mpinet predict broadcast hypercube:20 --ranks 64``

    ``mpinet predict flood torus:1000x1000 --ranks 8 --rank 3``
    """

    command = "predict"
    predicted: Literal["ascend", "descend", "route", "flood", "broadcast"]
    """Command to play; its own options are given besides."""
    _: KW_ONLY
    ranks: Annotated[int, Typed(metavar="R")]
    """Number of ranks."""
    rank: Annotated[int, Typed(metavar="r")] = 0
    """Rank to play."""
    latency: Annotated[float, Typed(metavar="US", read=positive)] = 2.0
    """Latency of an empty message in the model, in microseconds."""
    # The options of the command that is played are parsed with these, and keep a record of their
    # own.
    played: Options = field(repr=False)
    """Options of the command to play."""
    bandwidth: Annotated[float, Typed(metavar="GBS", read=positive)] = 10.0
    """Bandwidth of a rank in the model, in 10^9 bytes per second."""


# The function takes the options of any command that can be played, so that no signature lists them
# all.
predict: Callable[..., PredictResult] = function_with(PredictOptions, PredictResult)

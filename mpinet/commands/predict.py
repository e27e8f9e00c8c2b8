"""``mpinet predict``: run one rank of many on one process; report its memory and messages."""

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
        raise ValueError(f"{quoted(text)} is not a positive number")
    return number


class PredictedMemory(Fields):
    """Memory of a process in bytes: the peak, and before the run."""

    peak: Count
    before: Count


class Modelled(Fields):
    """Modelled seconds of a run."""

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
    """Predict the memory and messages of one rank of many, on one process.

    Examples
    --------
    ``mpinet predict broadcast hypercube:20 --ranks 64``

    ``mpinet predict flood torus:1000x1000 --ranks 8 --rank 3``
    """

    command = "predict"
    predicted: Literal["ascend", "descend", "route", "flood", "broadcast"]
    """Command to play; its own options follow."""
    _: KW_ONLY
    ranks: Annotated[int, Typed(metavar="R")]
    """Number of ranks."""
    rank: Annotated[int, Typed(metavar="r")] = 0
    """Rank to play."""
    latency: Annotated[float, Typed(metavar="US", read=positive)] = 2.0
    """Latency of an empty message in the model, in microseconds."""
    # The options of the played command are parsed together with these, and have their own record.
    played: Options = field(repr=False)
    """Options of the command to play."""
    bandwidth: Annotated[float, Typed(metavar="GBS", read=positive)] = 10.0
    """Bandwidth of a rank in the model, in 10^9 bytes per second."""


# The function takes the options of every command that can be played, so no signature lists them
# all.
predict: Callable[..., PredictResult] = function_with(PredictOptions, PredictResult)

"""``mpinet trace``: convert a recording to the trace format of another program."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Literal

from mpinet.commands.fields import Count
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, File, Options, Typed
from mpinet.commands.options import Recording
from mpinet.commands.result import Result

Kind = Literal["perfetto", "paje", "csv"]
"""Formats of trace files."""


class TraceResult(Result):
    """Result of ``trace``."""

    format: Kind
    command: Any
    steps: Count
    movements: Count
    calls: Count


@dataclass(frozen=True)
class TraceOptions(Options):
    """Convert a recording to a trace for Perfetto or Paje, or to CSV (collective).

    Returns
    -------
    Result
        FILE is a recording by ``--record``.

    Examples
    --------
    ``mpinet trace run.npz -o run.json``

    ``mpinet route torus:8x8 --trace route.json``
    """

    command = "trace"
    recording: Recording
    _: KW_ONLY
    kind: Annotated[Kind, Typed(words=("--as",))] = "perfetto"
    """Format of the trace: JSON for Perfetto and Chrome, Paje for ViTE, or a table."""
    output: Annotated[File, Typed("Trace file to write.", words=("-o",), metavar="OUT")]


trace = function_with(TraceOptions, TraceResult, Common)

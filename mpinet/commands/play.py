"""``mpinet play``: make an HTML page that plays a recording step by step."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

from mpinet.commands.fields import Count
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, File, Options, Typed
from mpinet.commands.options import Numbers, Recording
from mpinet.commands.result import Result


class PlayResult(Result):
    """Result of ``play``."""

    command: Any
    nodes: Count
    steps: Count
    movements: Count
    calls: Count


@dataclass(frozen=True)
class PlayOptions(Options):
    """Make an HTML page that plays a recording step by step (collective).

    Examples
    --------
    ``mpinet play run.npz -o run.html``

    ``mpinet broadcast gmn:4,32 --play broadcast.html``
    """

    command = "play"
    recording: Recording
    _: KW_ONLY
    output: Annotated[File, Typed("Page to write.", words=("-o",), metavar="FILE.html")]
    title: Annotated[str | None, Typed(metavar="TEXT")] = None
    """Heading of the page; default: the recorded command."""
    pause_at: Annotated[Numbers | None, Typed(metavar="STEP,..")] = None
    """Steps after which the playback pauses."""


play = function_with(PlayOptions, PlayResult, Common)

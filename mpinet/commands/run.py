"""``mpinet run``: run your own program on every processor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar

from mpinet.commands.fields import Count, Unreceived
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, Typed, Unsaved, Views
from mpinet.commands.options import MachineOptions, Ports, RoutingName
from mpinet.commands.result import Result


class RunResult(Result):
    """Result of ``run``."""

    program: str
    processors: Count
    steps: Count
    messages: Count
    unreceived: Count
    unreceived_at: list[Unreceived]
    values: list[Any]


@dataclass(frozen=True)
class ProgramOptions(MachineOptions):
    """Run your own program on every processor (collective).

    Examples
    --------
    ``mpinet run mpinet.examples.flood:flood --on ring:4``

    ``mpinet run relay.py:relay --on torus:8x8 --arg 3``

    >>> import mpinet
    >>> mpinet.run("mpinet.examples.flood:flood", "hypercube:3").processors
    8
    """

    command = "run"
    columns: ClassVar = {"on": "topology", "arg": "arguments"}
    program: Annotated[str | Callable[..., Any], Typed(metavar="FILE.py:PROGRAM")]
    """Generator function for one node, or its name as ``FILE.py:PROGRAM``."""
    on: Annotated[Network, Typed(words=("--on",))]
    """Network of the processors."""
    _: KW_ONLY
    arg: Annotated[Sequence[Any] | Mapping[str, Any], Typed(metavar="[NAME=]VALUE")] = ()
    """Arguments of the program after the node, by position or by name. Text in a sequence is parsed
    like ``--arg`` on the command line."""
    routing: RoutingName = None
    """Routing of routed messages; see route."""
    ports: Ports = "all"


run = function_with(ProgramOptions, RunResult, Views, Unsaved, Common)

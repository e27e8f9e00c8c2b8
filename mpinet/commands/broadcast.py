"""``mpinet broadcast``: broadcast from one processor."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from mpinet.commands.fields import Count, GroupFound, Hash, Phase, Positive, Skipped, When
from mpinet.commands.functions import function_with
from mpinet.commands.options import (
    Algorithm,
    Common,
    File,
    ItemOptions,
    Place,
    Ports,
    RootedOptions,
    SavedOften,
    Switches,
    Views,
)
from mpinet.commands.result import Result

MANY = When("with ``--items`` above 1")


class BroadcastResult(Result):
    """Result of ``broadcast``."""

    algorithm: str
    steps: Count
    messages: Count
    informed: Count
    phases: list[Phase]
    lower_bound: Count | None
    lower_by: Annotated[
        str,
        "what shows it: distance, growth, ends: what a processor has to send or accept, hops: all "
        "items' over all channels, joint: what several groups bring over a cut, or cut, flow, "
        "which have certificates",
    ]
    schedule_sha256: Annotated[
        Hash, When("with ``--schedule``, or ``--schedule-out``, which writes the hashed lines,")
    ]
    items: Annotated[Positive, MANY]
    bandwidth: Annotated[tuple[Positive, Positive] | None, MANY, "as of ``allreduce``"]
    correct: Annotated[bool, MANY]
    skipped: Skipped
    intact_steps: Annotated[Count, When("with ``--faults``"), "steps without the faults"]
    intact_bound: Annotated[Count | None, When("with ``--faults``"), "their lower bound"]
    groups: Annotated[list[GroupFound], When("of several groups"), "what each takes alone"]


@dataclass(frozen=True)
class BroadcastOptions(RootedOptions, ItemOptions):
    """Broadcast from one processor (collective).

    Examples
    --------
    ``mpinet broadcast torus:8x8``

    ``mpinet broadcast gmn:4,32 --root 5 --play broadcast.html``

    >>> import mpinet
    >>> mpinet.broadcast("torus:8x8x8").steps
    12
    """

    command = "broadcast"
    _: KW_ONLY
    root: Place = 0
    """Processor where it starts: a number or an address."""
    algorithm: Algorithm = None
    """Schedule of the network, ``passes`` (a search), ``tree`` (links), ``flooding`` (busses), or
    ``best`` (the shortest of all); default: the first that applies."""
    schedule: bool = False
    """Give the schedule's sha256, too."""
    schedule_out: File | None = None
    """File for the lines that ``schedule`` hashes."""
    items: int = 1
    """Items of the root, sent in a pipeline where there are more than one: ``rarest``, ``trees``
    (all ports), ``matching`` or ``cycle`` (one port); default: the fewest steps."""
    switches: Switches = "copy"
    ports: Ports = "one"

    @property
    def is_scheduled(self) -> bool:
        """True if the schedule or its hash is asked for."""
        return self.schedule or self.schedule_out is not None


broadcast = function_with(BroadcastOptions, BroadcastResult, Views, SavedOften, Common)


bcast = broadcast
"""Name of MPI for this."""

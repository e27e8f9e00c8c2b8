"""``mpinet broadcast``: broadcast from one processor. This module loads no other collective."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from mpinet.commands.algorithms import algorithm_help
from mpinet.commands.collectiveresult import CollectiveResult
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, File, In, SavedOften, Several, Typed, Views
from mpinet.commands.options import ItemOptions, Place, RootedOptions

Targets = Annotated[
    str | Several[int] | None,
    Typed(
        "Processors that need the message, such as ``3,8-11``: a multicast by repeated halving of "
        "this set. Default: all.",
        metavar="SET",
        read=str,
        several="3,8-11",
    ),
]


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
    """Processor where the broadcast starts: number or address."""
    algorithm: Annotated[str | None, Typed(algorithm_help("broadcast"), metavar="NAME")] = None
    to: Targets = None
    schedule: Annotated[bool, In.OUTPUT] = False
    """Report the schedule's SHA-256."""
    schedule_out: Annotated[File | None, In.OUTPUT] = None
    """File for the schedule's lines, whose SHA-256 ``--schedule`` reports."""
    items: int = 1
    """Items at the root; more than one item is sent in a pipeline."""

    @property
    def is_scheduled(self) -> bool:
        """True if the schedule or its hash is requested."""
        return self.schedule or self.schedule_out is not None


broadcast = function_with(BroadcastOptions, CollectiveResult, Views, SavedOften, Common)


bcast = broadcast
"""Name of the broadcast in MPI."""

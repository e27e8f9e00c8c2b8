"""Options of runs in time: the network, the costs of processors and links, the places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from mpinet.base.choices import Mode
from mpinet.base.units import Unit
from mpinet.commands.fields import Count, Fields
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Typed
from mpinet.commands.options import HostOptions, Placed, RoutingName

Time = int | str


Times = str | int


TimeWord = Annotated[Time | None, Typed(metavar="TIME")]


TimeWords = Annotated[Times | None, Typed(metavar="TIME[,TIME..]")]


class StuckOperation(Fields):
    """An operation that never ends, and what it waits for; line 0 is unknown."""

    processor: Count
    operation: Count
    line: Count
    kind: Literal["calc", "send", "recv"]
    waits_for: str
    waits_line: Count


@dataclass(frozen=True, kw_only=True)
class TimeOptions(HostOptions):
    """Time."""

    on: Annotated[Network | None, Typed(metavar="TOPO")] = None
    """Network whose processors are those of the program."""
    flat: TimeWord = None
    """Latency between any two processors, in place of a network."""
    routing: RoutingName = None
    """Routing of messages."""
    mode: Mode = "cut"
    """Way of messages over several links: cut-through, store and forward, or cut-through on links
    that are always free."""
    machine: Annotated[str | None, Typed(metavar="NAME")] = None
    """Machine whose costs hold where no other option says them (see ``docs/reference/time.md``; a
    wrong name lists all)."""
    overhead: TimeWord = None
    """CPU time of a message, at its sender and at its receiver; default: 0."""
    overhead_byte: TimeWord = None
    """CPU time of each of a message's bytes but the first, or a rate such as 25GB/s; default: 0."""
    gap: TimeWord = None
    """NIC time of a message; default: 0."""
    gap_byte: TimeWord = None
    """NIC time of each of a message's bytes but the first, or a rate; default: 0."""
    eager: Annotated[int | None, Typed(metavar="BYTES")] = None
    """Largest message whose sender does not wait for the receiver; default: none waits."""
    latency: TimeWords = None
    """Latency of links, by class (see ``docs/reference/time.md``): the last serves all further
    classes; default: what a graph's edges say, or 1."""
    time_byte: TimeWords = None
    """Time per byte on links, or a rate, by class; default: what a graph's edges say, or 0 if
    another option says what a byte costs."""
    unit: Unit | None = None
    """Unit of time of plain numbers, of the program and of the JSON document; default: ns, or the
    machine's. Texts have the unit in which each time is easily read."""
    duplex: Literal["full", "half"] = "full"
    """Directions of a link: each by itself (full), or both share the link (half)."""
    place: Placed = "identity"

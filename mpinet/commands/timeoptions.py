"""Options of timed runs: network, costs of processors and links, places of processors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from mpinet.base.choices import Mode, Rendezvous
from mpinet.base.units import Unit
from mpinet.commands.fields import Count, Fields
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import In, Typed
from mpinet.commands.options import HostOptions, Placed, RoutingName

Time = int | str


Times = str | int


TimeWord = Annotated[Time | None, Typed(metavar="TIME")]


TimeWords = Annotated[Times | None, Typed(metavar="TIME[,TIME..]")]


class StuckOperation(Fields):
    """An operation that never ends, and the operation it waits for; line 0 means unknown."""

    processor: Count
    operation: Count
    line: Count
    kind: Literal["calc", "send", "recv"]
    waits_for: str
    waits_line: Count


@dataclass(frozen=True, kw_only=True)
class TimeOptions(HostOptions):
    """Costs: network, processors and links of a timed run."""

    on: Annotated[Network | None, Typed(metavar="TOPO")] = None
    """Network whose processors run the program."""
    flat: Annotated[TimeWord, In.NETWORK] = None
    """Latency between any two processors, instead of a network."""
    routing: RoutingName = None
    """Routing of messages."""
    mode: Annotated[Mode, In.NETWORK] = "cut"
    """Messages over several links: cut-through (cut), store and forward, or cut-through without
    contention."""
    machine: Annotated[str | None, Typed(metavar="NAME")] = None
    """Named machine whose costs are the defaults (see ``docs/reference/time.md``; a wrong name
    lists all machines)."""
    overhead: TimeWord = None
    """CPU time per message, at the sender and at the receiver; default: 0."""
    overhead_byte: TimeWord = None
    """CPU time per byte of a message after the first byte, or a rate such as 25GB/s; default: 0."""
    gap: TimeWord = None
    """NIC time per message; default: 0."""
    gap_byte: TimeWord = None
    """NIC time per byte of a message after the first byte, or a rate; default: 0."""
    eager: Annotated[int | None, Typed(metavar="BYTES")] = None
    """Largest message that is sent without waiting for the receiver; default: no limit."""
    rendezvous: Rendezvous = "round-trip"
    """End of a larger message's send: when an answer is back, or at the match as in LogGOPSim
    (loggopsim; on one rank)."""
    latency: TimeWords = None
    """Latency of links by class (see ``docs/reference/time.md``), the last value for all further
    classes; default: from the graph's edges, else 1."""
    time_byte: TimeWords = None
    """Time per byte on links, or a rate, by class; default: from the graph's edges, else 0 if
    another option sets a cost per byte."""
    unit: Unit | None = None
    """Time unit of plain numbers, of the program and of the JSON document; default: the machine's
    unit, else ns. Printed times choose a readable unit."""
    duplex: Annotated[Literal["full", "half"], In.NETWORK] = "full"
    """Directions of a link: independent (full), or sharing the link (half)."""
    place: Placed = "identity"

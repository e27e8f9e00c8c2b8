"""Options shared by several commands, each declared once with type, values and help."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from mpinet.base.memory import bytes_of
from mpinet.base.numerals import whole
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import File, In, Options, Seed, Several, Typed
from mpinet.programs.kinds import Behavior


def numbers_of(text: str) -> int | list[int]:
    """Read a whole number, or several joined by commas."""
    found = [whole(word) for word in text.split(",")]
    return found if len(found) > 1 else found[0]


def numbers_or_file(text: str) -> str | int | list[int]:
    """Read numbers as `numbers_of` does, or return the name of a CSV file unchanged."""
    return text if text.endswith(".csv") else numbers_of(text)


Numbers = Annotated[int | Several[int], Typed(read=numbers_of, several="1,2")]
"""A whole number, or several joined by commas."""


def joined(words: str | Several[str] | None) -> str | None:
    """Join words by commas, as typed; a text and None stay unchanged."""
    return words if words is None or isinstance(words, str) else ",".join(map(str, words))


Place = Annotated[int | str | tuple[Any, ...], Typed("Node: number or address.", metavar="NODE")]
"""Option for a node: number, address, or node of a networkx graph."""

Recording = Annotated[File, Typed("Recording, written by ``--record``.")]

Picture = Annotated[
    Path | str | None,
    Typed("Picture to write: .pdf, .svg or .png.", words=("-o", "--output"), metavar="FILE"),
    In.OUTPUT,
]
"""Option for the file of a picture."""

RoutingName = Annotated[
    str | None,
    Typed(
        "Routing of the network, or ``table:FILE.csv``, a table of next nodes; default: the first.",
        metavar="NAME",
    ),
    In.NETWORK,
]
PORTS = "Ports that a processor uses per step."

Ports = Annotated[Literal["one", "all"], Typed(PORTS, group="machine")]
Switches = Annotated[
    Behavior,
    Typed(
        "Ability of switches: forward each message once (forward), copy messages of a broadcast to "
        "several ports (copy), or also combine messages of a reduction (combine).",
        group="machine",
    ),
]
Algorithm = Annotated[str | None, Typed(metavar="NAME")]
Operator = Annotated[Literal["min", "max", "sum"], Typed("Operator on two items.")]

FaultWords = Annotated[
    str | None,
    Typed(
        "Dead nodes and links: ``node:U,link:U-V,..``, or a file with such words. ``route`` also "
        "takes dead busses, ``bus:B``.",
        metavar="FAULTS",
        group="network",
        several="node:1,node:2",
    ),
]
GroupWords = Annotated[
    str | None,
    Typed(
        "Processors of the group, in the order of their ranks: ``0-3``, ``0-12:4,15``. Other "
        "processors only forward, and nodes are numbered by rank. Several groups at once: "
        "``0-3/4-7``, ``4x1`` (blocks of 4) or ``2x4`` (2 each, 4 apart). Default: all processors.",
        metavar="GROUP",
        group="network",
        several="0-3/4-7",
    ),
]

PartsName = Annotated[
    str | None,
    Typed(
        "Family of a factor of the product network, such as lst or tq of ``sth:3,3``: all copies "
        "of this factor work at the same time, each on its own links.",
        metavar="FACTOR",
        group="network",
    ),
]

Placed = Annotated[
    str,
    Typed(
        "Mapping of the program's processors, or the script's ranks, to the network: identity, "
        "random (by the seed), snake (row by row on a mesh or torus, in alternating directions), "
        "cycle (a Hamiltonian cycle), search (a faster mapping; only ``replay``), or a file with "
        "one processor per line.",
        metavar="HOW",
        group="network",
    ),
]
Hosted = Annotated[
    Literal["blocks", "clusters", "measured", "random"],
    Typed(
        "Mapping of processors to ranks, without effect on results: blocks (of equal size), "
        "clusters (blocks of whole clusters of the network), measured (the one of these two with "
        "fewer ports between ranks), or random.",
    ),
]
MemoryLimit = Annotated[
    int | str | None,
    Typed(
        "Memory limit for all ranks of a host, such as ``4GiB`` or ``500MB``; a larger run is "
        "refused before the start. Default: the free memory.",
        metavar="BYTES",
        read=bytes_of,
    ),
]
Force = Annotated[bool, Typed("Whether to start a run that exceeds the memory.")]
RecordFile = Annotated[
    File | None,
    Typed(
        "File for the movements of every step (.npz, or .csv: only movements), for mpinet play "
        "and mpinet trace."
    ),
]
RecordSteps = Annotated[str | None, Typed("Steps to record; default: all.", metavar="A..B")]
RecordNodes = Annotated[
    str | None,
    Typed("Nodes to record, such as ``0..15,20``; default: all.", metavar="SET"),
]
Duplex = Annotated[
    Literal["full", "half"],
    Typed(
        "Messages per link and step: one in each direction (full), or one (half).",
    ),
]


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class HostOptions(Options):
    """Hosts: mapping to ranks, memory limit and seed."""

    mapping: Hosted = "blocks"
    memory_limit: MemoryLimit = None
    force: Force = False
    seed: Seed = 0

    @property
    def allowance(self) -> tuple[int | str | None, bool]:
        """Limit of a host's memory in bytes, and True to allow runs that exceed the memory."""
        return self.memory_limit, self.force


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class RecordingOptions(HostOptions):
    """Recording: file, steps and nodes of a recording."""

    record: RecordFile = None
    record_steps: RecordSteps = None
    record_nodes: RecordNodes = None


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class MachineOptions(RecordingOptions):
    """Machine: ports and directions of links."""

    ports: Ports | None = "one"
    duplex: Duplex = "full"


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class FabricOptions(MachineOptions):
    """Network: groups of processors, and faults."""

    group: GroupWords = None
    faults: FaultWords = None


@dataclass(frozen=True, init=False, repr=False, eq=False)
class CollectiveOptions(FabricOptions):
    """Collective."""

    is_own = True
    topology: Network
    _: KW_ONLY
    parts: PartsName = None
    algorithm: Algorithm = None
    ports: Ports = "one"
    beside: bool = field(default=False, repr=False)
    """True for the comparison run without faults; not an option."""

    @property
    def is_scheduled(self) -> bool:
        """True if the schedule or its hash is requested."""
        return False


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class RootedOptions(CollectiveOptions):
    """Collective with a root."""

    root: Place = 0


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ManyOptions(CollectiveOptions):
    """Collective of many items."""

    items: int = 1


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ItemOptions(ManyOptions):
    """Collective of many items, with switches that may copy or combine items."""

    is_own = True
    switches: Switches = "copy"


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ReductionOptions(ItemOptions):
    """Collective that combines items."""

    operator: Operator = "min"

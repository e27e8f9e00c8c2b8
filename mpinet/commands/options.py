"""Options that stand in several commands, each written once: what it is, its values, its help."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from mpinet.base.memory import bytes_of
from mpinet.base.numerals import whole
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import File, Options, Seed, Several, Typed
from mpinet.programs.kinds import Behavior


def numbers_of(text: str) -> int | list[int]:
    """Read a whole number, or several joined by commas."""
    found = [whole(word) for word in text.split(",")]
    return found if len(found) > 1 else found[0]


def numbers_or_file(text: str) -> str | int | list[int]:
    """Read numbers as `numbers_of` does; the name of a CSV file stays as it is."""
    return text if text.endswith(".csv") else numbers_of(text)


Numbers = Annotated[int | Several[int], Typed(read=numbers_of, several="1,2")]
"""A whole number or several; typed with commas between them."""


def joined(words: str | Several[str] | None) -> str | None:
    """Return words as they are typed, joined by commas; a text and None unchanged."""
    return words if words is None or isinstance(words, str) else ",".join(map(str, words))


Place = Annotated[
    int | str | tuple[Any, ...], Typed("Node: its number or address.", metavar="NODE")
]
"""A node by its number or address, or as a graph of networkx has it."""

Recording = Annotated[File, Typed("Recording that ``--record`` has written.")]

Picture = Annotated[
    Path | str | None,
    Typed("Picture to write: .pdf, .svg or .png.", words=("-o", "--output"), metavar="FILE"),
]
"""Option for the file that a picture is drawn into."""

RoutingName = Annotated[
    str | None,
    Typed(
        "Routing of the network, or ``table:FILE.csv``, a table of next nodes; default: its first.",
        metavar="NAME",
    ),
]
PORTS = "Ports that a processor uses per step."

Ports = Annotated[Literal["one", "all"], Typed(PORTS)]
Switches = Annotated[
    Behavior,
    Typed(
        "Work of switches: send on each message once (forward), as often as is wanted in what is "
        "spread (copy), or make one of several in a reduction, too (combine)."
    ),
]
Algorithm = Annotated[str | None, Typed(metavar="NAME")]
Operator = Annotated[Literal["min", "max", "sum"], Typed("Operator on two items.")]

FaultWords = Annotated[
    str | None,
    Typed(
        "Dead nodes and links: ``node:U,link:U-V,..``, or a file of such words.",
        metavar="FAULTS",
        several="node:1,node:2",
    ),
]
GroupWords = Annotated[
    str | None,
    Typed(
        "Processors that take part, in the order of their ranks: ``0-3``, ``0-12:4,15``; all "
        "others only forward. Nodes are then numbered by rank. Several groups at once: "
        "``0-3/4-7``, or by a rule ``4x1`` (blocks of 4), ``2x4`` (2 each, 4 apart). Default: all.",
        metavar="GROUP",
        several="0-3/4-7",
    ),
]

Placed = Annotated[
    str,
    Typed(
        "Processors of the network for those of the program, or for the ranks of a script: "
        "identity, random (by the seed), snake (along the rows of a mesh or torus, there and "
        "back), cycle (along a Hamiltonian cycle), search (what takes less time, in ``replay``), "
        "or a file with a processor a line.",
        metavar="HOW",
    ),
]
Hosted = Annotated[
    Literal["blocks", "clusters", "measured", "random"],
    Typed(
        "Mapping of processors to ranks, which changes no result. blocks: as even as possible; "
        "clusters: blocks that end where the network's clusters do; measured: the one of these two "
        "by which fewer ports lead to other ranks; random.",
    ),
]
MemoryLimit = Annotated[
    int | str | None,
    Typed(
        "Bytes that the ranks of a host may take together, such as ``4GiB`` or ``500MB``; a run "
        "that needs more is refused before it begins. Default: what the host has left.",
        metavar="BYTES",
        read=bytes_of,
    ),
]
Force = Annotated[bool, Typed("Whether to try what does not fit into the memory there is.")]
RecordFile = Annotated[
    File | None,
    Typed(
        "File for the movements of every step (.npz, or .csv: movements alone); see mpinet play "
        "and mpinet trace."
    ),
]
RecordSteps = Annotated[
    str | None, Typed("Steps A to B, which alone are recorded.", metavar="A..B")
]
RecordNodes = Annotated[
    str | None,
    Typed("Nodes whose movements alone are recorded, such as ``0..15,20``.", metavar="SET"),
]
Duplex = Annotated[
    Literal["full", "half"],
    Typed(
        "Messages that a link carries per step: one each way (full), or one (half).",
    ),
]


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class HostOptions(Options):
    """Hosts."""

    mapping: Hosted = "blocks"
    memory_limit: MemoryLimit = None
    force: Force = False
    seed: Seed = 0

    @property
    def allowance(self) -> tuple[int | str | None, bool]:
        """Bytes that a host may use, and True if larger runs are tried."""
        return self.memory_limit, self.force


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class RecordingOptions(HostOptions):
    """Machine."""

    record: RecordFile = None
    record_steps: RecordSteps = None
    record_nodes: RecordNodes = None


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class MachineOptions(RecordingOptions):
    """Machine."""

    ports: Ports | None = "one"
    duplex: Duplex = "full"


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class FabricOptions(MachineOptions):
    """Machine."""

    group: GroupWords = None
    faults: FaultWords = None


@dataclass(frozen=True, init=False, repr=False, eq=False)
class CollectiveOptions(FabricOptions):
    """Collective."""

    is_own = True
    topology: Network
    _: KW_ONLY
    algorithm: Algorithm = None
    ports: Ports = "one"
    beside: bool = field(default=False, repr=False)
    """True for the run without faults next to one with faults; no option."""

    @property
    def is_scheduled(self) -> bool:
        """True if the schedule or its hash is asked for."""
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
    """Collective of many items that switches may multiply or combine."""

    is_own = True
    switches: Switches = "copy"


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ReductionOptions(ItemOptions):
    """Collective that combines items."""

    operator: Operator = "min"

"""Options that stand in several commands, each written once: what it is, its values, its help."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from mpinet.base import numerals
from mpinet.base.memory import bytes_of
from mpinet.base.numerals import is_whole, quoted, whole
from mpinet.commands.signature import MOST_SEED, Typed
from mpinet.programs.kinds import Behavior


def folder(text: str) -> Path:
    """Read a folder's name; '' would be the current one, which a run deletes at its end."""
    if not text:
        raise ValueError("it takes the name of a folder, not ''")
    return Path(text)


def seed_of(text: str) -> int:
    """Read a seed: 0 .. 2^63 - 1."""
    if not is_whole(text) or int(text) > MOST_SEED:
        raise ValueError(f"a seed is a whole number 0..2^63-1, not {quoted(text)}")
    return int(text)


def numbers_of(text: str) -> int | list[int]:
    """Read a whole number, or several joined by commas."""
    found = [whole(word) for word in text.split(",")]
    return found if len(found) > 1 else found[0]


def numbers_or_file(text: str) -> str | int | list[int]:
    """Read numbers as `numbers_of` does; the name of a CSV file stays as it is."""
    return text if text.endswith(".csv") else numbers_of(text)


Numbers = Annotated[int | Sequence[int], Typed(read=numbers_of)]
"""A whole number or several; typed with commas between them."""


def joined(words: str | Sequence[str] | None) -> str | None:
    """Return words as they are typed, joined by commas; a text and None unchanged."""
    return words if words is None or isinstance(words, str) else ",".join(map(str, words))


File = Annotated[str | Path, Typed(metavar="FILE")]
"""A file's name."""

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
        "Dead nodes and links: ``node:U,link:U-V,..``, or a file of such words.", metavar="FAULTS"
    ),
]
GroupWords = Annotated[
    str | None,
    Typed(
        "Processors that take part, in the order of their ranks: ``0-3``, ``0-12:4,15``; all "
        "others only forward. Nodes are then numbered by rank. Several groups at once: "
        "``0-3/4-7``, or by a rule ``4x1`` (blocks of 4), ``2x4`` (2 each, 4 apart). Default: all.",
        metavar="GROUP",
    ),
]
Seed = Annotated[int, Typed("Seed of everything random.", default=0, metavar="SEED", read=seed_of)]

Placed = Annotated[
    str,
    Typed(
        "Processors of the network for those of the program, or for the ranks of a script: "
        "identity, random (by the seed), snake (along the rows of a mesh or torus, there and "
        "back), cycle (along a Hamiltonian cycle), search (what takes less time, in ``replay``), "
        "or a file with a processor a line.",
        "identity",
        metavar="HOW",
    ),
]
Hosted = Annotated[
    Literal["blocks", "clusters", "measured", "random"],
    Typed(
        "Mapping of processors to ranks, which changes no result. blocks: as even as possible; "
        "clusters: blocks that end where the network's clusters do; measured: the one of these two "
        "by which fewer ports lead to other ranks; random.",
        default="blocks",
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


Out = Annotated[Path | None, Typed("File for the result (.json, .csv or .jsonl).", metavar="FILE")]


class OnHosts(TypedDict, total=False):
    """Hosts."""

    mapping: Hosted
    memory_limit: MemoryLimit
    force: Force
    seed: Seed


class Recordable(OnHosts, total=False):
    """Machine."""

    record: Annotated[
        File | None,
        Typed(
            "File for the movements of every step (.npz, or .csv: movements alone); see mpinet "
            "play and mpinet trace."
        ),
    ]
    record_steps: Annotated[
        str | None, Typed("Steps A to B, which alone are recorded.", metavar="A..B")
    ]
    record_nodes: Annotated[
        str | None,
        Typed("Nodes whose movements alone are recorded, such as ``0..15,20``.", metavar="SET"),
    ]


class OnMachine(Recordable, total=False):
    """Machine."""

    duplex: Annotated[
        Literal["full", "half"],
        Typed(
            "Messages that a link carries per step: one each way (full), or one (half).",
            default="full",
        ),
    ]


class OnFabric(OnMachine, total=False):
    """Machine."""

    group: GroupWords
    faults: FaultWords


class Views(TypedDict):
    """Recording."""

    draw: Annotated[
        File | None,
        Typed("Picture of link loads, and of who sends when: FILE.svg, .pdf, .png or .html."),
    ]
    play: Annotated[File | None, Typed("Page that plays the run step by step: FILE.html.")]
    trace: Annotated[
        File | None,
        Typed("Trace of the run: FILE.json for Perfetto, .paje for ViTE, .csv for a table."),
    ]


class Saved(TypedDict):
    """Checkpoints."""

    checkpoint: Annotated[
        Path | None,
        Typed(
            "Folder that keeps the run's state, and is made; mpinet resume FOLDER goes on from "
            "there. SIGTERM and SIGUSR1 write it and end with status 75.",
            metavar="FOLDER",
            read=folder,
        ),
    ]


class SavedOften(Saved):
    """Checkpoints."""

    every: Annotated[
        float | None,
        Typed(
            "Seconds between two checkpoints; default: 600, or more where the run would wait for "
            "them for more than 2 % of its time.",
            metavar="SECONDS",
            read=numerals.seconds,
        ),
    ]


class Unsaved(TypedDict):
    """Checkpoints."""

    checkpoint: Annotated[str | None, Typed(hidden=True)]


class Watched(TypedDict):
    """Common options."""

    progress: Annotated[
        bool | None,
        Typed(
            "Show progress on standard error; ``--progress json``: a JSON object per line, for "
            "programs."
        ),
    ]
    progress_as: Annotated[str | None, Typed(dest="progress", choices=("json",), hidden=True)]
    watchdog: Annotated[
        float | None,
        Typed(
            "Seconds after which the job ends where a rank, or its launcher, is stopped (SIGSTOP); "
            "0: never; default: 0, but 60 under mpinet launch and launch/run.",
            metavar="SECONDS",
            read=numerals.seconds,
        ),
    ]


class Shown(Watched):
    """Common options."""

    json: Annotated[bool, Typed("Print one JSON document.")]


class Resumed(Watched):
    """Common options."""

    json: Annotated[bool | None, Typed("Print one JSON document.")]
    out: Out


class Common(Shown):
    """Common options."""

    out: Out
    seed: Seed

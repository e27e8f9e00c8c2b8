"""Options that stand in several commands, each written once: what it is, its values, its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypedDict

from mpinet.base import numerals
from mpinet.base.memory import bytes_of
from mpinet.base.numerals import is_whole, quoted
from mpinet.commands.signature import MOST_SEED, Typed


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


File = Annotated[str | Path, Typed(metavar="FILE")]
"""A file's name."""

Place = Annotated[int | str, Typed("A node: its number or address.", metavar="NODE")]
"""A node by its number or address."""

Recording = Annotated[File, Typed("What ``--record`` has written.")]

Picture = Annotated[
    Path | str | None,
    Typed("The picture: .pdf, .svg or .png.", words=("-o", "--output"), metavar="FILE"),
]
"""Where a picture is drawn."""

RoutingName = Annotated[
    str | None, Typed("A routing of the network; default: its first.", metavar="NAME")
]
PORTS = "Ports that a processor uses in a step."

Ports = Annotated[Literal["one", "all"], Typed(PORTS)]
Switches = Annotated[
    Literal["forward", "combine"],
    Typed(
        "What switches do with what comes in a reduction: send on each message, once, or make one "
        "of several."
    ),
]
Algorithm = Annotated[str | None, Typed(metavar="NAME")]
Operator = Annotated[Literal["min", "max", "sum"], Typed("What becomes of two items.")]

FaultWords = Annotated[
    str | None,
    Typed("``node:U,link:U-V,..``, or a file of such words: what is dead.", metavar="FAULTS"),
]
Seed = Annotated[int, Typed("For everything random.", default=0, metavar="SEED", read=seed_of)]

Hosted = Annotated[
    Literal["blocks", "clusters", "measured", "random"],
    Typed(
        "How ranks host processors; changes no result. blocks: as even as possible; clusters: "
        "blocks that end where the network's clusters do; measured: of these two the one by which "
        "fewer ports lead to other ranks; random.",
        default="blocks",
    ),
]
MemoryLimit = Annotated[
    int | str | None,
    Typed(
        "Bytes that the ranks of a host may take together, such as ``4GiB`` or ``500MB``; a run "
        "that needs more is refused before it begins. Default: what the host has left.",
        default=None,
        metavar="BYTES",
        read=bytes_of,
    ),
]
Force = Annotated[
    bool, Typed("Whether to try what does not fit into the memory there is.", default=False)
]


class OnHosts(TypedDict, total=False):
    """Hosts."""

    mapping: Hosted
    memory_limit: MemoryLimit
    force: Force
    seed: Seed


class OnMachine(OnHosts, total=False):
    """Machine."""

    duplex: Annotated[
        Literal["full", "half"],
        Typed("Messages that a link carries in a step: one each way, or one.", default="full"),
    ]
    record: Annotated[
        File | None,
        Typed(
            "The file that gets what moved in which step (.npz, or .csv: movements alone); see "
            "mpinet play and mpinet trace.",
            default=None,
        ),
    ]
    record_steps: Annotated[
        str | None, Typed("Record steps A to B alone.", default=None, metavar="A..B")
    ]
    record_nodes: Annotated[
        str | None,
        Typed(
            "Record alone what moves from or to these nodes, such as ``0..15,20``.",
            default=None,
            metavar="SET",
        ),
    ]


class Views(TypedDict):
    """Recording."""

    draw: Annotated[
        File | None,
        Typed("Draw link loads, and who sends when: FILE.svg, .pdf, .png or .html.", default=None),
    ]
    play: Annotated[
        File | None, Typed("Write a page that plays the run step by step: FILE.html.", default=None)
    ]
    trace: Annotated[
        File | None,
        Typed(
            "Write a trace: FILE.json for Perfetto, .paje for ViTE, .csv for a table.", default=None
        ),
    ]


class Saved(TypedDict):
    """Checkpoints."""

    checkpoint: Annotated[
        Path | None,
        Typed(
            "Keep the run's state in FOLDER, which is made; mpinet resume FOLDER goes on from "
            "there. SIGTERM and SIGUSR1 write it and end with status 75.",
            default=None,
            metavar="FOLDER",
            read=folder,
        ),
    ]


class SavedOften(Saved):
    """Checkpoints."""

    every: Annotated[
        float | None,
        Typed(
            "From one checkpoint to the next; default: 600, or more where the run would wait for "
            "them for more than 2 % of its time.",
            default=None,
            metavar="SECONDS",
            read=numerals.seconds,
        ),
    ]


class Unsaved(TypedDict):
    """Checkpoints."""

    checkpoint: Annotated[str | None, Typed(default=None, hidden=True)]


class Watched(TypedDict):
    """Common options."""

    progress: Annotated[
        bool | None,
        Typed(
            "Show progress on standard error; ``--progress json``: a JSON object a line, for "
            "programs.",
            default=None,
        ),
    ]
    progress_as: Annotated[
        str | None, Typed(default=None, dest="progress", choices=("json",), hidden=True)
    ]
    watchdog: Annotated[
        float | None,
        Typed(
            "End the job where a rank, or its launcher, has been stopped (SIGSTOP) for so long; "
            "0: never, the default but under mpinet launch and launch/run: 60.",
            default=None,
            metavar="SECONDS",
            read=numerals.seconds,
        ),
    ]


class Shown(Watched):
    """Common options."""

    json: Annotated[bool, Typed("Print one JSON document.", default=False)]


class Resumed(Watched):
    """Common options."""

    json: Annotated[bool | None, Typed("Print one JSON document.", default=None)]
    out: Annotated[
        Path | None, Typed("Also write FILE (.json, .csv or .jsonl).", default=None, metavar="FILE")
    ]


class Common(Shown):
    """Common options."""

    out: Annotated[
        Path | None, Typed("Also write FILE (.json, .csv or .jsonl).", default=None, metavar="FILE")
    ]
    seed: Seed

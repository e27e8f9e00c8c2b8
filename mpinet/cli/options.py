"""Options that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpinet import numerals
from mpinet.errors import UsageError
from mpinet.memory import bytes_of
from mpinet.numerals import is_whole, quoted, whole


def add_common(parser: argparse.ArgumentParser, files: bool = True) -> None:
    """Options of every command.

    Parameters
    ----------
    parser : ArgumentParser
        The command's.
    files : bool
        Whether --out is the result's file, and --seed applies; a command that has --out for what
        it makes has neither.
    """
    group = parser.add_argument_group("common options")
    group.add_argument("--json", action="store_true", help="print one JSON document")
    if files:
        group.add_argument(
            "--out", type=Path, metavar="FILE", help="also write FILE (.json, .csv or .jsonl)"
        )
        group.add_argument("--seed", type=seed, default=0, help="for everything random (default 0)")
    else:
        parser.set_defaults(out=None)
    add_progress(group)


def add_progress(group: argparse._ArgumentGroup) -> None:
    """What is told of a run, and what ends one that has been stopped."""
    group.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="show progress on standard error; --progress json: a JSON object a line, for programs",
    )
    group.add_argument("--progress-as", dest="progress", choices=("json",), help=argparse.SUPPRESS)
    group.add_argument(
        "--watchdog",
        type=seconds,
        metavar="SECONDS",
        help="end the job where a rank, or its launcher, has been stopped (SIGSTOP) for so long; "
        "0: never, the default but under mpinet launch and launch/run: 60",
    )


def add_topology(parser: argparse.ArgumentParser) -> None:
    """The network's string."""
    action = parser.add_argument(
        "topology", metavar="TOPO", help="a network, such as torus:8x8x8 (see: mpinet topologies)"
    )
    action.completer = families_completed  # type: ignore[attr-defined]


def families_completed(prefix: str, **asked: object) -> list[str]:
    """The families that a name may go on to, for a shell that asks."""
    from mpinet.networks.catalogue import FAMILIES

    return [f"{name}:" for name in FAMILIES if name.startswith(prefix)]


def add_machine(parser: argparse.ArgumentParser, ports: str, reason: str = "") -> None:
    """Options of commands that run a machine.

    Parameters
    ----------
    ports : str
        The port model that the command has by default.
    reason : str
        Why it has this one, where a user of another command would wonder.
    """
    group = parser.add_argument_group("machine")
    group.add_argument(
        "--ports",
        choices=("one", "all"),
        default=ports,
        help=f"ports that a processor uses in a step (default {ports}{reason and ': '}{reason})",
    )
    group.add_argument(
        "--duplex",
        choices=("full", "half"),
        default="full",
        help="messages that a link carries in a step: one each way, or one (default full)",
    )
    add_mapping(group)
    add_memory(group)
    recording = parser.add_argument_group("recording")
    recording.add_argument(
        "--record",
        metavar="FILE",
        help="write what moved in which step to FILE (.npz, or .csv: movements alone); see "
        "mpinet play and mpinet trace",
    )
    recording.add_argument("--record-steps", metavar="A..B", help="record steps A to B alone")
    recording.add_argument(
        "--record-nodes",
        metavar="SET",
        help="record alone what moves from or to these nodes, such as 0..15,20",
    )
    for option, what in (
        ("draw", "draw link loads, and who sends when: FILE.svg, .pdf, .png or .html"),
        ("play", "write a page that plays the run step by step: FILE.html"),
        ("trace", "write a trace: FILE.json for Perfetto, .paje for ViTE, .csv for a table"),
    ):
        recording.add_argument(f"--{option}", metavar="FILE", help=what)


def add_items(parser: argparse.ArgumentParser) -> None:
    """The option that makes a pipeline of a collective."""
    parser.add_argument(
        "--items",
        type=number,
        metavar="M",
        default=1,
        help="items in a pipeline, one a message (default 1); with more, the algorithms are rarest "
        "and trees (all ports), matching and cycle (one port)",
    )


def add_mapping(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """The option that says which rank hosts which processors."""
    group.add_argument(
        "--mapping",
        choices=("blocks", "clusters", "measured", "random"),
        default="blocks",
        help="how ranks host processors; never changes a result. blocks: as even as possible "
        "(default); clusters: blocks that end where the network's clusters do; measured: of these "
        "two the one by which fewer ports lead to other ranks; random",
    )


def add_memory(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """What a run may take of its hosts' memory."""
    group.add_argument(
        "--memory-limit",
        type=memory,
        metavar="BYTES",
        help="memory that the ranks of a host may take together, such as 4GiB or 500MB; a run that "
        "needs more is refused before it begins (default: what the host has left)",
    )
    group.add_argument(
        "--force",
        action="store_true",
        help="try a run that does not fit into the memory there is",
    )


def folder(text: str) -> Path:
    """A folder's name; '' would be the current one, which a run deletes at its end."""
    if not text:
        raise argparse.ArgumentTypeError("it takes the name of a folder, not ''")
    return Path(text)


def add_checkpoint(parser: argparse.ArgumentParser, every: bool = True) -> None:
    """Options of commands that can be saved and go on.

    Parameters
    ----------
    parser : ArgumentParser
        The command's.
    every : bool
        Whether it writes now and then; otherwise it writes down at once whatever it has found.
    """
    group = parser.add_argument_group("checkpoints")
    group.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        type=folder,
        help="keep the run's state in FOLDER, which is made; mpinet resume FOLDER goes on from "
        "there. SIGTERM and SIGUSR1 write it and end with status 75",
    )
    parser.set_defaults(every=None)
    if not every:
        return
    group.add_argument(
        "--every",
        type=seconds,
        metavar="SECONDS",
        help="from one checkpoint to the next (default 600, or more where the run would wait for "
        "them for more than 2 %% of its time)",
    )


def refuse_checkpoint(parser: argparse.ArgumentParser, what: str) -> None:
    """Let a command that cannot be saved say so."""

    class Refusal(argparse.Action):
        def __call__(self, parser: argparse.ArgumentParser, *given: object) -> None:
            parser.error(f"--checkpoint: {what} cannot be saved, as Python keeps its state")

    parser.add_argument(
        "--checkpoint", action=Refusal, help=argparse.SUPPRESS, default=argparse.SUPPRESS
    )


def seconds(text: str) -> float:
    """Read a time."""
    try:
        return numerals.seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def memory(text: str) -> int:
    """Read a number of bytes."""
    try:
        return bytes_of(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def seed(text: str) -> int:
    """Read a seed: 0 .. 2^63 - 1."""
    if not is_whole(text) or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"a seed is a whole number 0..2^63-1, not {quoted(text)}")
    return int(text)


def number(text: str) -> int:
    """Read a whole number."""
    try:
        return whole(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None

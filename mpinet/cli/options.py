"""Options that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

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
            "--out", type=Path, metavar="FILE", help="also write FILE (.json or .csv)"
        )
        group.add_argument("--seed", type=seed, default=0, help="for everything random (default 0)")
    else:
        parser.set_defaults(out=None)
    group.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="show progress on standard error",
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

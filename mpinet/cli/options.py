"""Options that several commands share."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mpinet.errors import UsageError
from mpinet.networks import check
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.numerals import is_whole, quoted, whole

if TYPE_CHECKING:
    from mpinet.machine import PortModel
    from mpinet.machine.placement import Mapping
    from mpinet.machine.transport import Local


FOLDERS = re.compile(r"[^:,=]*/(?=[^/:,=]*\.[A-Za-z])")
"""The folders of a file, in a name."""


def without_folders(name: str) -> str:
    """A name as a result has it, whose digest is the same wherever the files in it lie."""
    return FOLDERS.sub("", name)


def add_common(parser: argparse.ArgumentParser) -> None:
    """Options of every command."""
    group = parser.add_argument_group("common options")
    group.add_argument("--json", action="store_true", help="print one JSON document")
    group.add_argument("--out", type=Path, metavar="FILE", help="also write FILE (.json or .csv)")
    group.add_argument("--seed", type=seed, default=0, help="for everything random (default 0)")
    group.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="show progress on standard error",
    )


def add_topology(parser: argparse.ArgumentParser) -> None:
    """The network's string."""
    parser.add_argument(
        "topology", metavar="TOPO", help="a network, such as torus:8x8x8 (see: mpinet topologies)"
    )


def add_machine(parser: argparse.ArgumentParser, ports: str) -> None:
    """Options of commands that run a machine.

    Parameters
    ----------
    ports : str
        The port model that the command has by default.
    """
    group = parser.add_argument_group("machine")
    group.add_argument(
        "--ports",
        choices=("one", "all"),
        default=ports,
        help=f"ports that a processor uses in a step (default {ports})",
    )
    group.add_argument(
        "--duplex",
        choices=("full", "half"),
        default="full",
        help="messages that a link carries in a step: one each way, or one (default full)",
    )
    add_mapping(group)


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


def topology_of(options: argparse.Namespace) -> Topology:
    """The network that was named; one of a user's own is checked against the contract.

    Raises
    ------
    TopologyError
        There is no such network.
    WiringError
        A user's rules contradict each other; names processor and port.
    """
    topology = open_topology(options.topology)
    if not type(topology).__module__.startswith("mpinet."):
        check(topology, schedules=False)  # the machine refuses wrong ones when they run
    return topology


def mapping_of(options: argparse.Namespace, topology: Topology, transport: Local) -> Mapping:
    """The mapping that was asked for (collective)."""
    from mpinet.machine.choice import open_mapping

    return open_mapping(options.mapping, topology, transport, options.seed)


def port_model(options: argparse.Namespace) -> PortModel:
    """The port model that was asked for."""
    from mpinet.machine import PortModel

    limit = 1 if options.ports == "one" else None
    return PortModel(limit, limit, options.duplex == "half")


def require_all_port(options: argparse.Namespace, what: str) -> None:
    """Raise `UsageError` where --ports one would have no effect."""
    if options.ports == "one":
        raise UsageError(f"{what} uses all ports: --ports one does not apply.")

"""``mpinet schedule``: run, check and export schedules as files."""

from __future__ import annotations

import argparse
from pathlib import Path

from mpinet.cli.options import add_common, add_machine, add_topology, number
from mpinet.commands.schedule import prepare as prepare

EXPORTED = ("broadcast", "gossip", "scatter", "gather", "exchange", "reduce", "allreduce")
"""Collectives whose schedules are written."""

READ = (*EXPORTED, "reducescatter")
"""Collectives that a schedule may be for."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """What is done with a schedule, each with its options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in (
        ("run", "run a schedule from a file"),
        ("check", "run one, and tell what was checked"),
    ):
        _add_run(actions.add_parser(name, help=summary, description=f"{summary.capitalize()}."))
    summary = "write the schedule of a collective"
    _add_export(actions.add_parser("export", help=summary, description=f"{summary.capitalize()}."))


def _add_run(parser: argparse.ArgumentParser) -> None:
    """The file, the network, and what the file does not say."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="CSV, NPZ, MSCCL-XML, ForestColl XML or GOAL"
    )
    parser.add_argument(
        "--on", dest="topology", metavar="TOPO", required=True, help="a network, such as ring:8"
    )
    parser.add_argument(
        "--route", action="store_true", help="rows go over several hops, by the network's routing"
    )
    parser.add_argument("--collective", choices=READ, help="what it is for, if no header tells")
    parser.add_argument("--chunks", type=number, metavar="K", help="chunks a unit, likewise")
    parser.add_argument("--root", metavar="U", help="the root, likewise")
    parser.add_argument(
        "--bytes", type=number, metavar="B", help="bytes of a message of GOAL (default: any)"
    )
    parser.add_argument(
        "--rounds", type=number, metavar="M", help="how often ForestColl's trees are used"
    )
    add_machine(parser, ports="one", reason="or what the file's header says")
    parser.set_defaults(ports=None)
    add_common(parser)


def _add_export(parser: argparse.ArgumentParser) -> None:
    """The collective, the network, the algorithm and the file."""
    parser.add_argument("collective", choices=EXPORTED, metavar="COLLECTIVE", help="such as gossip")
    add_topology(parser)
    parser.add_argument("--algorithm", metavar="NAME", help="as for the collective's command")
    parser.add_argument("--root", metavar="U", default="0", help="the root (default 0)")
    parser.add_argument(
        "--items", type=number, metavar="M", default=1, help="in a pipeline (default 1)"
    )
    parser.add_argument("--ports", choices=("one", "all"), default="one", help="default one")
    parser.add_argument(
        "--out",
        dest="file",
        type=Path,
        metavar="FILE",
        required=True,
        help="the schedule: .csv, .npz, .xml (MSCCL) or .goal",
    )
    parser.add_argument("--format", choices=("csv", "npz", "msccl", "goal"), help="by the ending")
    add_common(parser, files=False)

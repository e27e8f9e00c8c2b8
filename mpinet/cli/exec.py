"""``mpinet exec``: an mpi4py script, unchanged, on every processor."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common, add_machine, number, refuse_checkpoint
from mpinet.commands.exec import PATTERNS
from mpinet.commands.exec import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the script, what it gets."""
    parser.usage = (
        "%(prog)s --on TOPO [options] (SCRIPT.py | -m MODULE | -c CODE) [ARGS ..]\n"
        "(what follows SCRIPT.py, MODULE or CODE belongs to the script)"
    )
    parser.add_argument(
        "--on",
        dest="topology",
        metavar="TOPO",
        required=True,
        help="a network, such as hypercube:10 (see: mpinet topologies)",
    )
    parser.add_argument(
        "--routing", metavar="NAME", help="brings messages to their targets; see route"
    )
    parser.add_argument(
        "--packet",
        type=number,
        metavar="BYTES",
        help="let messages travel in packets (default: each is one message of the machine)",
    )
    parser.add_argument(
        "--sends",
        choices=("buffered", "synchronous"),
        default="buffered",
        help="whether send and Send return at once or wait for their receives (default buffered)",
    )
    parser.add_argument(
        "--collectives",
        choices=PATTERNS,
        help="whom their messages go to (default: the machine's own broadcast tree, partners "
        "whose ranks differ in one bit where those are neighbours, else a binomial tree)",
    )
    add_machine(parser, ports="one", reason="an MPI process sends one message at a time")
    add_common(parser)
    refuse_checkpoint(parser, "a script")
    rest = argparse.REMAINDER
    parser.add_argument("-m", dest="module", nargs=rest, metavar="MODULE", help="run a module")
    parser.add_argument("-c", dest="code", nargs=rest, metavar="CODE", help="run code as it stands")
    parser.add_argument(
        "script", nargs=rest, metavar="SCRIPT.py ARGS ..", help="the mpi4py script, what it gets"
    )

"""The commands, and the parser that knows them all by name but loads only the one that is typed."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from mpinet.commands import MODULES
from mpinet.numerals import quoted
from mpinet.version import __version__

COMMANDS = {
    "topologies": "list the networks that can be named",
    "show": "what a network is: size, degrees, links; with --distances its diameter",
    "draw": "draw a network, with routes and link loads",
    "compare": "put networks side by side: sizes, distances, cuts, costs, steps",
    "find": "find the best networks for a number of processors and a degree",
    "measure": "measure one thing of a network, such as its bisection",
    "check": "check a network's rules against each other",
    "neighbors": "the ports of one node",
    "path": "the way of one message",
    "route": "route messages over the machine",
    "load": "measure latency and throughput under traffic that goes on all the time",
    "flood": "flood the machine from one node",
    "broadcast": "broadcast one-port from one processor",
    "gossip": "bring every processor's item to all processors",
    "scatter": "bring a different item from one processor to every other",
    "gather": "bring an item from every processor to one",
    "exchange": "bring a different item from every processor to every other",
    "reduce": "combine the items of all processors at one",
    "allreduce": "combine the items of all processors at all of them",
    "optimum": "find the fewest steps of a broadcast, or links of a bisection, with a certificate",
    "certify": "check a certificate: of how many steps or links it takes",
    "schedule": "run, check and export schedules as files",
    "circulate": "let every item visit all processors of its subcube",
    "ascend": "run an ASCEND program",
    "descend": "run a DESCEND program",
    "embed": "embed a network in another, and emulate its programs",
    "run": "run a program of one's own on every processor",
    "exec": "run an mpi4py script, unchanged, on every processor",
    "sweep": "run a command at all combinations of its options' values, from a file",
    "plot": "draw curves of results, as papers print them",
    "trace": "write a recording as a trace of Perfetto, Paje or CSV",
    "play": "make a page of a recording that shows it step by step",
    "verify": "judge the papers' claims, or one's own, by measurements",
    "resume": "go on with a run from its checkpoint",
    "predict": "predict what one rank of many needs and sends, on one process",
    "bench": "measure how fast mpinet is here, in turn with its baselines",
    "launch": "run a command on several ranks, by the MPI launcher of this installation",
    "template": "print a batch script or a list of hosts to begin with",
    "doctor": "look whether MPI, launcher, compiler cache and memory are as mpinet needs them",
    "demo": "run four jobs whose results are known by closed forms",
}
"""Every command with a sentence; each has a module of its name in this folder."""


ALIASES = {"list": "topologies", "describe": "topologies"}
"""Other words for commands."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose options must be spelled out."""

    def __init__(self, **settings: object):
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)  # type: ignore[arg-type]


def parse(typed: Sequence[str]) -> argparse.Namespace:
    """Read what was typed; `SystemExit` with status 2 if it is wrong, 0 after help."""
    wanted = next((word for word in typed if not word.startswith("-")), None)
    if wanted in ALIASES:
        at = typed.index(wanted)
        wanted = ALIASES[wanted]
        typed = [*typed[:at], wanted, *typed[at + 1 :]]
    parser = _parser(wanted)
    typed = _with_format(typed)
    if wanted is not None and wanted not in COMMANDS:
        parser.error(_unknown(wanted))
    return parser.parse_args(typed)


def _with_format(typed: Sequence[str]) -> list[str]:
    """Words in which ``--progress json`` is one: by itself the option has no value.

    Where a program's or script's own words begin nothing is changed.
    """
    words = list(typed)
    for at, word in enumerate(words):
        if word.endswith(".py") or word in ("-m", "-c", "--"):
            break
        if word == "--progress=json":
            words[at] = "--progress-as=json"
        elif words[at : at + 2] == ["--progress", "json"]:
            return [*words[:at], "--progress-as=json", *words[at + 2 :]]
    return words


def _parser(wanted: str | None) -> argparse.ArgumentParser:
    """A parser of all commands; only the one that is wanted is loaded for its options."""
    parser = Parser(
        prog="mpinet",
        description="Emulate message-passing machines: route, broadcast, ASCEND, and count steps.",
        epilog="mpirun -n R mpinet COMMAND .. spreads the machine over R ranks, with the same "
        "result. mpinet COMMAND --help tells a command's options.",
    )
    parser.add_argument("--version", action="version", version=f"mpinet {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary.capitalize()}.")
        if name == wanted:
            module_of(name).add_options(command)
    return parser


def complete() -> None:
    """Answer a shell that asks how a line goes on, and end; return where none asks.

    The shell knows whom to ask by ``eval "$(register-python-argcomplete mpinet)"``.
    """
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        from argcomplete import autocomplete
    except ImportError:
        return
    words = os.environ.get("COMP_LINE", "")[: int(os.environ.get("COMP_POINT", 0))].split()[1:]
    autocomplete(_parser(next((word for word in words if word in COMMANDS), None)))


def _unknown(word: str) -> str:
    close = difflib.get_close_matches(word.lower(), [*COMMANDS, *ALIASES], n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"there is no command {quoted(word)}: {hint}'mpinet --help' lists them all."


def module_of(command: str) -> ModuleType:
    """The module that does a command."""
    return import_module(f"mpinet.cli.{MODULES.get(command, command)}")

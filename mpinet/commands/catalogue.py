"""The commands by name, each with its description in ``mpinet --help``."""

from __future__ import annotations

from mpinet.commands.algorithms import COLLECTIVES

GROUPS = {
    "look at networks": {
        "show": "describe a network: size, degrees, links; with --distances its diameter",
        "topologies": "list the network families",
        "draw": "draw a network, with routes and link loads",
        "compare": "compare networks: sizes, distances, cuts, costs, steps",
        "find": "find the best networks for a number of processors and a degree",
        "measure": "measure one property of a network, such as its bisection",
        "check": "check the rules of a network for consistency",
    },
    "run": {
        "route": "route messages over the machine, or show the route of one message",
        "load": "measure latency and throughput under open-loop traffic",
        "replay": "play a program of messages in time",
        "tune": "find the fastest algorithm of a collective for each message size",
        "flood": "flood the machine from one node",
        # A new row in the table of collectives becomes a command without an entry here.
        **{name: row.said for name, row in COLLECTIVES.items() if row.is_listed},
        "ascend": "run an ASCEND program; with --down a DESCEND program",
        "embed": "embed a network in another network, and emulate its programs",
        "run": "run your own program on every processor",
        "exec": "run an unchanged mpi4py script on every processor",
    },
    "prove": {
        "optimum": "find the fewest steps of a collective, or links of a bisection, "
        "with a certificate",
        "pareto": "find the Pareto-optimal schedules in steps and rounds per chunk",
        "certify": "check a certificate of a lower bound on steps or links",
        "schedule run": "run a schedule from a file",
        "schedule check": "run a schedule from a file, and report each check",
        "schedule export": "write the schedule of a collective",
        "schedule generate": "write a textbook collective as a program of messages",
        "verify": "test claims of papers, or your own claims, by measurements",
        "reproduce": "repeat the papers' tables and figures, with measured and printed values",
    },
    "work with results": {
        "sweep": "run a command for all combinations of option values in a plan file",
        "plot": "draw curves of results",
        "play": "make an HTML page that plays a recording step by step",
        "trace": "convert a recording to a trace for Perfetto or Paje, or to CSV",
        "resume": "continue a run from its checkpoint",
    },
    "use this machine": {
        "launch": "run a command on several ranks, with the MPI launcher of this installation",
        "template": "print a batch script or a host list as a starting point",
        "doctor": "check whether MPI, launcher, compiler cache and memory work with mpinet",
        "demo": "run four jobs with known results",
        "predict": "predict the memory and messages of one rank of many, on one process",
        "bench": "measure mpinet's speed on this host, alternating with baseline programs",
    },
}
"""The commands in ``mpinet --help``: groups of commands, each command with a description."""

UNLISTED = {
    "neighbors": "list the ports of one node: show --node",
    "path": "show the route of one message: route TOPO SRC DST",
    "descend": "run a DESCEND program: ascend --down",
    **{name: row.said for name, row in COLLECTIVES.items() if not row.is_listed},
}
"""Commands that ``mpinet --help`` leaves out: forms of other commands, or needed only for papers.
"""

COMMANDS = {name: said for group in (*GROUPS.values(), UNLISTED) for name, said in group.items()}
"""All commands with their descriptions."""

SYNONYMS = {row.also: name for name, row in COLLECTIVES.items() if row.also}
"""Names of collectives in MPI, with the commands that they mean."""

MODULES = {
    **dict.fromkeys((*COLLECTIVES, *SYNONYMS), "collectives"),
    # Making the function of one command takes milliseconds. A small broadcast saves the time for
    # the others.
    **dict.fromkeys(("broadcast", "bcast"), "broadcast"),
    "descend": "ascend",
    "schedule run": "schedule",
    "schedule check": "schedule",
    "schedule export": "schedule",
    "schedule generate": "generate",
}
"""Modules by command, where the names differ."""

VERBS = {"schedule": "run, check, export and generate schedules as files"}
"""First words of the commands of two words, with descriptions."""

ALIASES = {"list": "topologies", "describe": "topologies", **SYNONYMS}
"""Other names of commands, including the names of collectives in MPI."""

TYPED_ALONE = ("resume", "launch")
"""Commands without a Python function: they restart or replace the process."""

ROOMS = ("measure", "certify", "bench")
"""Commands whose names are also subpackages of `mpinet`; the subpackage is callable, as in
``mpinet.measure(..)``."""

ELSEWHERE = ("check",)
"""Commands whose Python function comes from another subpackage, with the same result."""

FUNCTIONS = tuple(
    name for name in COMMANDS if " " not in name and name not in (*TYPED_ALONE, *ROOMS, *ELSEWHERE)
)
"""Commands that are also functions of `mpinet`."""

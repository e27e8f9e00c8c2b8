"""The commands by name, each with the sentence that ``mpinet --help`` has for it."""

from __future__ import annotations

from mpinet.commands.algorithms import COLLECTIVES

GROUPS = {
    "look at networks": {
        "show": "what a network is: size, degrees, links; with --distances its diameter",
        "topologies": "list the networks that can be named",
        "draw": "draw a network, with routes and link loads",
        "compare": "put networks side by side: sizes, distances, cuts, costs, steps",
        "find": "find the best networks for a number of processors and a degree",
        "measure": "measure one thing of a network, such as its bisection",
        "check": "check a network's rules against each other",
    },
    "run": {
        "route": "route messages over the machine, or tell the way of one",
        "load": "measure latency and throughput under traffic that goes on all the time",
        "replay": "play a program of messages in time: how long, on which machine",
        "tune": "find the algorithm of a collective that takes least time, size by size",
        "flood": "flood the machine from one node",
        # A new row of the table of collectives is a command without a second entry here.
        **{name: row.said for name, row in COLLECTIVES.items() if row.is_listed},
        "ascend": "run an ASCEND program; with --down a DESCEND program",
        "embed": "embed a network in another, and emulate its programs",
        "run": "run a program of one's own on every processor",
        "exec": "run an mpi4py script, unchanged, on every processor",
    },
    "prove": {
        "optimum": "find the fewest steps of a broadcast, or links of a bisection, "
        "with a certificate",
        "pareto": "find the schedules that nothing dominates in steps and rounds per chunk",
        "certify": "check a certificate: of how many steps or links it takes",
        "schedule run": "run a schedule from a file",
        "schedule check": "run a schedule from a file, and tell what was checked",
        "schedule export": "write the schedule of a collective",
        "schedule generate": "write a textbook's collective as a program of messages",
        "verify": "judge the papers' claims, or one's own, by measurements",
        "reproduce": "make the papers' tables and figures again, measured beside printed",
    },
    "work with results": {
        "sweep": "run a command at all combinations of its options' values, from a file",
        "plot": "draw curves of results, as papers print them",
        "play": "make a page of a recording that shows it step by step",
        "trace": "write a recording as a trace of Perfetto, Paje or CSV",
        "resume": "go on with a run from its checkpoint",
    },
    "use this machine": {
        "launch": "run a command on several ranks, by the MPI launcher of this installation",
        "template": "print a batch script or a list of hosts to begin with",
        "doctor": "look whether MPI, launcher, compiler cache and memory are as mpinet needs them",
        "demo": "run four jobs whose results are known by closed forms",
        "predict": "predict what one rank of many needs and sends, on one process",
        "bench": "measure how fast mpinet is here, in turn with its baselines",
    },
}
"""The list in ``mpinet --help``: groups of commands, each with a sentence on it."""

UNLISTED = {
    "neighbors": "the ports of one node: show --node",
    "path": "the way of one message: route TOPO SRC DST",
    "descend": "run a DESCEND program: ascend --down",
    **{name: row.said for name, row in COLLECTIVES.items() if not row.is_listed},
}
"""Commands that are not listed: what they do others do, too, or is asked for by papers alone."""

COMMANDS = {name: said for group in (*GROUPS.values(), UNLISTED) for name, said in group.items()}
"""Every command: the function of its name, in the module of its name in this folder."""

SYNONYMS = {row.also: name for name, row in COLLECTIVES.items() if row.also}
"""Names of MPI for collectives."""

MODULES = {
    **dict.fromkeys((*COLLECTIVES, *SYNONYMS), "collectives"),
    # The function of each command takes milliseconds to make, which a small broadcast saves.
    **dict.fromkeys(("broadcast", "bcast"), "broadcast"),
    "descend": "ascend",
    "schedule run": "schedule",
    "schedule check": "schedule",
    "schedule export": "schedule",
    "schedule generate": "generate",
}
"""Modules of commands that share one."""

VERBS = {"schedule": "run, check, export and generate schedules as files"}
"""First words of commands of two words."""

ALIASES = {"list": "topologies", "describe": "topologies", **SYNONYMS}
"""Other words for commands; for collectives those of MPI."""

TYPED_ALONE = ("resume", "launch")
"""Commands of a process: Python has no command line to go on with, and none to start anew."""

ROOMS = ("measure", "certify", "bench")
"""Commands that are rooms of `mpinet`, too, which are called: ``mpinet.measure(..)``."""

ELSEWHERE = ("check",)
"""Commands whose function in `mpinet` is that of a lower room, with the same result."""

FUNCTIONS = tuple(
    name for name in COMMANDS if " " not in name and name not in (*TYPED_ALONE, *ROOMS, *ELSEWHERE)
)
"""Commands that are functions of `mpinet`, too."""

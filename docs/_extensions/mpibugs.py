"""The page docs/reference/mpi-bugs.md, made from the benchmark's programs and their outcomes.

``python docs/_extensions/mpibugs.py`` writes the page from ``mpi-bugs.json`` in the same folder; a
test compares them. ``python tests/bugbench.py`` runs the programs and writes that file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import bugbench
from bugbench import CATEGORIES, NAMED, RULES, SECTIONS, SILENT, Program

PAGE = Path(__file__).parents[1] / "reference/mpi-bugs.md"

TITLES = {
    "openmpi": "Open MPI",
    "mpich": "MPICH",
    "mpinet": "`mpinet exec`",
    "checked": "`mpinet exec --check`",
}
"""Names of tools on the page, in the order of columns."""

HEAD = """\
# Benchmark of MPI bugs

The benchmark measures which mistakes of MPI programs a tool names. The benchmark has {pairs} pairs
of small mpi4py programs. The wrong program of a pair breaks one rule of the MPI standard 4.1. The
right program resembles the wrong program and is correct under every MPI library.

The categories follow MPI-BugBench and the MPI Bugs Initiative, two benchmarks in C. All programs
and expectations were written from the text of the standard, before `mpinet exec` had a checker.

## Scores

{scores}

* Recall: the part of the wrong programs whose mistake is *named*. The output states the kind of the
  mistake and a line of the mistake.
* Helpfulness: the part of the wrong programs of which the output names all marked lines. Most
  mistakes have two lines, such as a send and its receive.
* Fails without a name: the program crashes, hangs or ends with another status, and no message
  states the mistake.
* Silent: the wrong program ends well.
* Precision: wrong programs among all programs that fail or get a finding.

Real libraries run the programs by `mpirun -n N python -m mpi4py`, so an exception ends all
processes. A run hangs if the run has no end after 10 seconds. The two programs with a message race
run by `mpinet exec --arrivals all`; under real libraries their outcomes vary. Each right program
ran three times under each real library.

## By rule

Named mistakes per rule. `mpinet exec --check` is expected to report a finding of the rule.

{rules}

## By category

{categories}

## Programs

Files `NAME_wrong.py` and `NAME_right.py` in the folder `tests/mpi/bugbench`. The docstring of each
program states the facts of this table and a reason. The comments `# first` and `# second` mark the
lines of the mistake. Some lines have alternatives: a tool may name the change of a pending buffer,
or the call that completes the operation.

{programs}

## Repeat the measurement

{{download}}`mpi-bugs.json` has the scores of each tool and the outcomes of all programs. These
commands write the file and this page:

```text
$ python tests/bugbench.py --tool mpinet --patience 60
$ python tests/bugbench.py --tool openmpi=.venv/bin/python --tool mpich=.venv-mpich/bin/python
$ python docs/_extensions/mpibugs.py
```
"""


def page() -> str:
    """Return the page."""
    document = json.loads(bugbench.RESULTS.read_text())
    tools = {name: document[name] for name in TITLES if name in document}
    wrong = [program for program in bugbench.programs() if program.wrong]
    return HEAD.format(
        pairs=len(wrong),
        scores=table(scores(tools)),
        rules=table(named_by(wrong, tools, "rule", RULES, lambda program: program.rule)),
        categories=table(named_by(wrong, tools, "category", CATEGORIES, lambda one: one.category)),
        programs=table(rows(wrong, tools)),
    )


def table(lines: Iterator[list[str]]) -> str:
    """Format rows as a Markdown table; the first row is the head."""
    head, *rest = lines
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rest])


def scores(tools: dict[str, Any]) -> Iterator[list[str]]:
    """Yield a row per tool."""
    yield [
        *("tool", "version", "recall", "helpfulness", "precision", "named"),
        *("fails without a name", "silent", "right programs that fail or get a finding"),
    ]
    for name, entry in tools.items():
        one = bugbench.score(entry["outcomes"])
        rates = (one.recall, one.helpfulness, one.precision)
        counts = (one.named, one.failed, one.silent, one.false)
        shown = [*(f"{rate:.0%}".replace("%", " %") for rate in rates), *map(str, counts)]
        yield [TITLES[name], entry["version"], *shown]


def named_by(
    wrong: list[Program],
    tools: dict[str, Any],
    heading: str,
    kinds: dict[str, str],
    kind_of: Callable[[Program], str],
) -> Iterator[list[str]]:
    """Yield a row per kind of mistake with the number of named mistakes."""
    explained = kinds is CATEGORIES
    yield [heading, *["mistake"] * explained, "programs", *(TITLES[name] for name in tools)]
    for kind in kinds:
        names = [program.name for program in wrong if kind_of(program) == kind]
        counts = [
            sum(entry["outcomes"][name]["outcome"] == NAMED for name in names)
            for entry in tools.values()
        ]
        shown = [kinds[kind]] if explained else []
        yield [kind if explained else f"`{kind}`", *shown, *map(str, [len(names), *counts])]


def rows(wrong: list[Program], tools: dict[str, Any]) -> Iterator[list[str]]:
    """Yield a row per pair of programs."""
    yield ["name", "mistake", "rule", "section", "N", *(TITLES[name] for name in tools)]
    for program in wrong:
        rule = f"`{program.rule}`" + ", warning" * (program.severity == "warning")
        section = f"{program.section} {SECTIONS[program.section]}"
        facts = [program.title, rule, section, str(program.processors)]
        shown = [cell(program, entry["outcomes"][program.name]) for entry in tools.values()]
        yield [f"`{program.pair}`", *facts, *shown]


def cell(program: Program, outcome: dict[str, Any]) -> str:
    """Return an outcome as the table shows it."""
    if outcome["outcome"] == NAMED:
        return f"**named**, {outcome['lines']} of {len(program.marks)} lines"
    return SILENT if outcome["outcome"] == SILENT else outcome["end"]


if __name__ == "__main__":
    PAGE.write_text(page())

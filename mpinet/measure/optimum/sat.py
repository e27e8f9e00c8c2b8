"""Formulas for the solver CaDiCaL: a solution, a proof that none exists, or neither in time."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

from mpinet.base.deadline import deadline
from mpinet.base.ownership import own_python
from mpinet.base.version import PACKAGE
from mpinet.measure.libraries import library
from mpinet.measure.optimum.clausebook import ClauseBook

SOLVER = "cadical195"


@dataclass(frozen=True, eq=False)
class SolverAnswer:
    """Answer of the solver; both fields are None after a timeout."""

    true: set[int] | None = None
    """The true variables of a solution."""
    proof: list[str] | None = None
    """Lines of a DRUP proof that no solution exists."""


def solved(formula: ClauseBook, limit: float) -> SolverAnswer:
    """Run the solver in a separate process that can be ended.

    Parameters
    ----------
    formula : ClauseBook
        The formula.
    limit : float
        Seconds for the solver.

    Raises
    ------
    UsageError
        The solver is not installed.
    """
    library("pysat.solvers", extra="optimum")
    if not deadline().left:
        return SolverAnswer()
    asked = "\n".join(" ".join(map(str, clause)) for clause in formula.clauses)
    paths = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    try:
        # PySAT cannot interrupt CaDiCaL. A process can be ended at the limit, which also frees its
        # memory.
        ended = subprocess.run(
            own_python("-m", __name__),
            input=asked,
            capture_output=True,
            text=True,
            timeout=max(deadline().share(limit), 0.1),
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return SolverAnswer()
    answer = ended.stdout.splitlines()
    if answer[:1] == ["satisfiable"]:
        return SolverAnswer(true={int(word) for word in " ".join(answer[1:]).split()})
    if answer[:1] == ["unsatisfiable"]:
        return SolverAnswer(proof=answer[1:])
    return SolverAnswer()


def _answer() -> None:
    """Solve the formula on standard input, and print the answer."""
    clauses = [[int(word) for word in line.split()] for line in sys.stdin.read().split("\n")]
    solver = library("pysat.solvers", extra="optimum").Solver(
        SOLVER, bootstrap_with=clauses, with_proof=True
    )
    if solver.solve():
        print("satisfiable", *(literal for literal in solver.get_model() if literal > 0), sep="\n")
    else:
        print("unsatisfiable", *solver.get_proof(), sep="\n")


if __name__ == "__main__":
    _answer()

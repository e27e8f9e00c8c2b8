"""Solver for linear programs: HiGHS in a separate process.

HiGHS and the CP-SAT solver of `mpinet.measure.bisection` both contain a library of HiGHS, and one
process cannot load both. This file is also the program of the separate process. It reads the arrays
of the linear program from standard input and writes the duals to its output, as ``.npz``. The
library always prints a banner. Therefore descriptor 1 of the process is redirected to standard
error, and the answer goes to the original descriptor 1.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from importlib import import_module
from typing import Any

import numpy as np

GRACE = 30.0
"""Seconds beyond the solver's own limit after which the process is ended."""

INTERIOR = 10_000
"""Number of rows from which the interior point method is faster than the simplex method."""

OPTIMAL_BELOW = 1 - 1e-7
"""Threshold with a rounding margin: an optimum below it counts as less than 1."""


def duals(program: dict[str, Any], limit: float) -> list[float] | None:
    """Return the row duals of a linear program whose maximized last variable stays below 1.

    Parameters
    ----------
    program : dict of str to ndarray
        ``columns`` is the number of variables. The first ``plain`` variables are at least 0. The
        last variable, which is maximized, is between 0 and 1. ``begin``, ``index``, ``value``: the
        rows of the matrix, compressed; ``lower`` and ``upper``: the bounds of the rows.
    limit : float
        Seconds for the solver.

    Returns
    -------
    list of float or None
        None if the largest last variable is 1, or the time limit is exceeded.
    """
    found = solution(program, limit)
    return None if found is None else found[0].tolist()


def solution(program: dict[str, Any], limit: float) -> tuple[Any, Any] | None:
    """Return the row duals and the values of the variables; otherwise like `duals`."""
    # This file also runs as a program without mpinet.
    from mpinet.base.deadline import deadline
    from mpinet.base.ownership import own_python

    if not deadline().left:
        return None
    # Arrays go through pipes as .npz, without pickle: the process accepts only numbers and never
    # code.
    written = io.BytesIO()
    np.savez(written, limit=max(limit, 0.1), **program)
    try:
        done = subprocess.run(
            own_python(__file__),
            input=written.getvalue(),
            capture_output=True,
            timeout=max(deadline().share(limit + GRACE), 0.1),
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    with np.load(io.BytesIO(done.stdout), allow_pickle=False) as answer:
        return (answer["duals"], answer["values"]) if answer["found"] else None


def solve(program: Any) -> tuple[bool, list[float], list[float]]:
    """Return whether the last variable's maximum is below 1, with row duals and variables."""
    highspy: Any = import_module("highspy")
    rows, columns = len(program["lower"]), int(program["columns"])
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = columns, rows
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = np.array([0.0] * (columns - 1) + [1.0])
    free = columns - 1 - int(program["plain"])
    model.col_lower_ = np.array([0.0] * (columns - 1 - free) + [-highspy.kHighsInf] * free + [0.0])
    model.col_upper_ = np.array([highspy.kHighsInf] * (columns - 1) + [1.0])
    model.row_lower_, model.row_upper_ = program["lower"], program["upper"]
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = program["begin"]
    model.a_matrix_.index_ = program["index"]
    model.a_matrix_.value_ = program["value"]
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", float(program["limit"]))
    # One thread gives the same duals each time, and therefore the same certificate.
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("solver", "simplex" if rows < INTERIOR else "ipm")
    solver.passModel(model)
    solver.run()
    optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    if not optimal or solver.getInfo().objective_function_value > OPTIMAL_BELOW:
        return False, [], []
    found = solver.getSolution()
    return True, [*map(float, found.row_dual)], [*map(float, found.col_value)]


if __name__ == "__main__":
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False) as given:
        found, prices, values = solve(given)
    answered = io.BytesIO()
    np.savez(answered, found=found, duals=np.array(prices), values=np.array(values))
    with output:
        output.write(answered.getvalue())

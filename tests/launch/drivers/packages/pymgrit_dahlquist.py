"""PyMGRIT: Dahlquist's problem, parallel in time."""

import logging

import numpy as np

np.in1d = getattr(np, "in1d", np.isin)  # NumPy 2.4 has it no longer

from mpi4py import MPI  # noqa: E402
from pymgrit import Dahlquist, Mgrit, simple_setup_problem  # noqa: E402

problem = Dahlquist(t_start=0, t_stop=5, nt=101)
levels = simple_setup_problem(problem=problem, level=2, coarsening=2)
solver = Mgrit(problem=levels, tol=1e-10, logging_lvl=logging.ERROR)
info = solver.solve()
print(MPI.COMM_WORLD.rank, [f"{float(each):.3e}" for each in np.ravel(info["conv"])])

"""One process asks for the largest value, the other for the smallest.

All processes must pass the same operator to a reduction.

category: parameter matching
finding: collectives, error
section: 6.9.6
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
local, found = np.array([3.0 + rank]), np.empty(1)
if rank == 0:
    comm.Allreduce(local, found, op=MPI.MAX)  # first
else:
    comm.Allreduce(local, found, op=MPI.MIN)  # second
print(found)

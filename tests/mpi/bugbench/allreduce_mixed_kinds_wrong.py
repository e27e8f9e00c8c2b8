"""A division turns the counts of one process into doubles before the sum.

All processes must pass the same datatype to a reduction.

category: parameter matching
finding: types, error
also: collectives
section: 6.9.6
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
counts = np.array([rank + 1, 2 * rank], dtype=np.int64)
if rank == 0:
    counts = counts / 2
total = np.empty_like(counts)
comm.Allreduce(counts, total, op=MPI.SUM)  # first
print(total)

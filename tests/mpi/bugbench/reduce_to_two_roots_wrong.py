"""One process reduces to the last process, and all others to the first.

All processes must pass the same root to a reduction.

category: parameter matching
finding: collectives, error
also: deadlock
section: 6.9.1
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
leader = comm.size - 1 if rank == 0 else 0
local, total = np.full(2, float(rank)), np.zeros(2)
comm.Reduce(local, total, op=MPI.SUM, root=leader)  # first
print(total)

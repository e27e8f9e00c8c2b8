"""All processes reduce to the last process.

All processes compute the same root.

category: parameter matching
finding: none
section: 6.9.1
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
leader = comm.size - 1
local, total = np.full(2, float(rank)), np.zeros(2)
comm.Reduce(local, total, op=MPI.SUM, root=leader)
print(total)

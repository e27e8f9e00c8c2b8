"""The last process of a line sends to no process.

A send to PROC_NULL has no effect.

category: invalid parameter
finding: none
section: 3.2.3
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
before, after = rank - 1, rank + 1 if rank + 1 < comm.size else MPI.PROC_NULL
mine, theirs = np.array([float(rank)]), np.zeros(1)
request = comm.Isend(mine, dest=after)
if before >= 0:
    comm.Recv(theirs, source=before)
request.Wait()
print(theirs)

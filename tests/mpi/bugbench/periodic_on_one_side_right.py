"""Neither receives nor sends of a halo are periodic.

Each process that has a left neighbour receives from it, and PROC_NULL completes at once.

category: parameter matching
finding: none
section: 3.5
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
left = rank - 1 if rank > 0 else MPI.PROC_NULL
right = rank + 1 if rank + 1 < comm.size else MPI.PROC_NULL
mine, ghost = np.full(2, float(rank)), np.zeros(2)
receive = comm.Irecv(ghost, source=left)
send = comm.Isend(mine, dest=right)
MPI.Request.Waitall([receive, send])
print(ghost)

"""Receives of a halo are periodic, but its sends are not.

The first process waits for the last one, which sends to no process.

category: parameter matching
finding: deadlock, error
section: 3.5
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
left = (rank - 1) % comm.size
right = rank + 1 if rank + 1 < comm.size else MPI.PROC_NULL
mine, ghost = np.full(2, float(rank)), np.zeros(2)
receive = comm.Irecv(ghost, source=left)  # first
send = comm.Isend(mine, dest=right)
MPI.Request.Waitall([receive, send])  # first
print(ghost)

"""A large array is sent before a barrier and received after the barrier.

The send may wait for the receive, which comes after the barrier.

category: buffering hazard
finding: sends, error
also: deadlock, collectives
section: 3.5
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
field = np.full(30_000, float(rank))
if rank == 0:
    comm.Send(field, dest=1)  # first
    comm.Barrier()
else:
    comm.Barrier()  # second
    comm.Recv(field, source=0)
print(field[0])

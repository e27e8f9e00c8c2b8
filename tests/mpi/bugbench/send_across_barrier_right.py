"""A large send is started before a barrier and received after the barrier.

A started send does not keep its process from the barrier.

category: buffering hazard
finding: none
section: 3.5
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
field = np.full(30_000, float(rank))
if rank == 0:
    request = comm.Isend(field, dest=1)
    comm.Barrier()
    request.Wait()
else:
    comm.Barrier()
    comm.Recv(field, source=0)
print(field[0])

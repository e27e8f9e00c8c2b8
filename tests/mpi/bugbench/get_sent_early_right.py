"""The result of a get is sent after the fence that completes the get.

The fence completes the get before the send reads its result.

category: local concurrency
finding: none
section: 12.7
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
window, values = MPI.Win.Allocate(32, 8, comm=comm), np.zeros(4)
np.frombuffer(window.tomemory())[:] = rank
window.Fence()
if rank == 0:
    window.Get(values, 1)
window.Fence()
if rank == 0:
    comm.Send(values, dest=2)
elif rank == 2:
    comm.Recv(values, source=0)
print(values)
window.Free()

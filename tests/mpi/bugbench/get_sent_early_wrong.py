"""The result of a get is sent before the get is complete.

The local buffer of a get must not be accessed before the get is complete.

category: local concurrency
finding: rma, error
also: buffers
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
    window.Get(values, 1)  # first
    comm.Send(values, dest=2)  # second
elif rank == 2:
    comm.Recv(values, source=0)
window.Fence()
print(values)
window.Free()

"""The origin of a put changes before the put is complete.

The local buffer of a put must not change before the put is complete.

category: local concurrency
finding: rma, error
also: buffers
section: 12.7
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
window, values = MPI.Win.Allocate(32, 8, comm=comm), np.arange(4.0)
if rank == 0:
    window.Lock(1)
    window.Put(values, 1)  # first
    values[:] = -1  # second
    window.Unlock(1)  # second
comm.Barrier()
window.Free()

"""The origin of a put changes after a local flush.

A local flush completes the put at its origin.

category: local concurrency
finding: none
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
    window.Put(values, 1)
    window.Flush_local(1)
    values[:] = -1
    window.Unlock(1)
comm.Barrier()
window.Free()

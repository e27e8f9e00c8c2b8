"""One process puts to an element to which another one adds.

The element is updated by a put and a concurrent accumulate, so its value is undefined.

category: global concurrency
finding: rma, error
section: 12.7
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
window, one = MPI.Win.Allocate(8, 8, comm=comm), np.ones(1)
window.Fence()
if rank == 1:
    window.Put(one, 0)  # first
elif rank == 2:
    window.Accumulate(one, 0, op=MPI.SUM)  # second
window.Fence()
window.Free()

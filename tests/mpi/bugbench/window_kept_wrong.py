"""A window is never freed.

Finalization does not free windows that a program created.

category: resource leak
finding: handles, warning
section: 11.2.2
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
window, values = MPI.Win.Allocate(32, 8, comm=comm), np.arange(4.0)  # first
window.Fence()
if rank == 0:
    window.Put(values, 1)
window.Fence()
if rank == 1:
    print(np.frombuffer(window.tomemory()).sum())

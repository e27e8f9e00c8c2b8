"""A window is freed after its last epoch.

The fence ends the last epoch before the window is freed.

category: resource leak
finding: none
section: 11.2.2
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
window, values = MPI.Win.Allocate(32, 8, comm=comm), np.arange(4.0)
window.Fence()
if rank == 0:
    window.Put(values, 1)
window.Fence()
if rank == 1:
    print(np.frombuffer(window.tomemory()).sum())
window.Free()

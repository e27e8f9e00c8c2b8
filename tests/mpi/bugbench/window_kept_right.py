"""A window is freed after its last epoch.

The fence ends the last epoch before the window is freed.

category: resource leak
finding: none
section: 12.2.5
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
window = MPI.Win.Allocate(32, 8, comm=comm)
window.Fence()
if rank == 0:
    window.Put(np.arange(4.0), 1)
window.Fence()
print(np.frombuffer(window.tomemory())[:].sum() if rank == 1 else "put")
window.Free()

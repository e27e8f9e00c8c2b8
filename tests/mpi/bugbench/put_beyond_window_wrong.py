"""A put of three numbers begins at the third of four places.

The target buffer must fit in the target window.

category: invalid parameter
finding: rma, error
also: arguments
section: 12.3.1
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
window, values = MPI.Win.Allocate(32, 8, comm=comm), np.ones(3)
window.Fence()
if rank == 0:
    window.Put(values, 1, 2)  # first
window.Fence()
window.Free()

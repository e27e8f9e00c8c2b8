"""A put of three numbers begins at the second of four places.

The three numbers fill the last three places.

category: invalid parameter
finding: none
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
    window.Put(values, 1, 1)
window.Fence()
window.Free()

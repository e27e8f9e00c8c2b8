"""A get precedes the end of the epoch.

The epoch contains both gets.

category: epoch lifecycle
finding: none
section: 12.5
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
window, values = MPI.Win.Allocate(32, 8, comm=comm), np.zeros(4)
window.Lock_all()
window.Get(values[:2], 1 - rank)
window.Get(values[2:], 1 - rank, 2)
window.Unlock_all()
comm.Barrier()
window.Free()

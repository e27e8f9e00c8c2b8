"""A get follows the end of the epoch.

RMA operations are permitted within an access epoch only.

category: epoch lifecycle
finding: rma, error
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
window.Unlock_all()  # second
window.Get(values[2:], 1 - rank, 2)  # first
comm.Barrier()
window.Free()

"""A loop of receives keeps only the last request.

The first receive is never completed, so its row must not be read.

category: request lifecycle
finding: requests, error
section: 11.2.2
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    rows = np.zeros((2, 4))
    for source in (1, 2):
        request = comm.Irecv(rows[source - 1], source=source)  # first
    request.Wait()
else:
    comm.Send(np.full(4, float(rank)), dest=0)
comm.Barrier()

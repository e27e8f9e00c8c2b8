"""A receive buffer is cleared after its receive was started.

The assignment may erase the message, or come before it.

category: local concurrency
finding: buffers, error
section: 3.7.2
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    comm.Send(np.arange(1.0, 5.0), dest=1)
else:
    total = np.full(6, 7.0)
    request = comm.Irecv(total, source=0)  # first
    total[:] = 0  # second
    request.Wait()  # second
    print(total)

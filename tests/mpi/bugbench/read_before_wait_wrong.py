"""The sum of an array is printed while its receive is pending.

The receive buffer must not be accessed before the receive is complete.

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
    comm.Send(np.arange(4.0), dest=1)
else:
    values = np.zeros(4)
    request = comm.Irecv(values, source=0)  # first
    print(values.sum())  # second
    request.Wait()  # second

"""The sum of an array is printed after its receive is complete.

Wait completes the receive before the sum is computed.

category: local concurrency
finding: none
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
    request = comm.Irecv(values, source=0)
    request.Wait()
    print(values.sum())

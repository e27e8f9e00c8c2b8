"""A persistent send is started again after it is complete.

Wait makes the request inactive before each new start.

category: request lifecycle
finding: none
section: 3.9
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
values = np.arange(3.0)
if rank == 0:
    request = comm.Ssend_init(values, dest=1)
    for _ in range(2):
        request.Start()
        request.Wait()
    request.Free()
else:
    for _ in range(2):
        comm.Recv(values, source=0)

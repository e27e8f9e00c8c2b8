"""A persistent send is started again before it is complete.

Start needs an inactive request.

category: request lifecycle
finding: requests, error
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
    request.Start()  # first
    request.Start()  # second
    request.Wait()
    request.Free()
else:
    for _ in range(2):
        comm.Recv(values, source=0)

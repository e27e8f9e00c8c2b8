"""The root starts a nonblocking broadcast, and the other process a blocking one.

Blocking and nonblocking collective operations do not match.

category: parameter matching
finding: collectives, error
also: deadlock
section: 6.12
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
values = np.arange(3.0) if rank == 0 else np.zeros(3)
if rank == 0:
    request = comm.Ibcast(values, root=0)  # first
    request.Wait()
else:
    comm.Bcast(values, root=0)  # second
print(values)

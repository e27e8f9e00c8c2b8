"""One work array holds the messages to two neighbours.

The second iteration changes the buffer while the first send is pending.

category: local concurrency
finding: buffers, error
section: 3.7.2
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    work, requests = np.empty(4), []
    for dest in (1, 2):
        work[:] = dest  # second
        requests.append(comm.Isend(work, dest=dest))  # first
    MPI.Request.Waitall(requests)  # second
else:
    values = np.empty(4)
    comm.Recv(values, source=0)
    print(values)

"""Each neighbour has a row of its own in the work array.

No row changes while its send is pending.

category: local concurrency
finding: none
section: 3.7.2
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    work, requests = np.empty((2, 4)), []
    for dest in (1, 2):
        work[dest - 1] = dest
        requests.append(comm.Isend(work[dest - 1], dest=dest))
    MPI.Request.Waitall(requests)
else:
    values = np.empty(4)
    comm.Recv(values, source=0)
    print(values)

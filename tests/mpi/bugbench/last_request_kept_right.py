"""A loop of receives keeps all requests in a list.

Waitall completes both receives before the rows are read.

category: request lifecycle
finding: none
section: 11.2.2
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    rows, requests = np.zeros((2, 4)), []
    for source in (1, 2):
        requests.append(comm.Irecv(rows[source - 1], source=source))
    MPI.Request.Waitall(requests)
    print(rows.sum())
else:
    comm.Send(np.full(4, float(rank)), dest=0)
comm.Barrier()

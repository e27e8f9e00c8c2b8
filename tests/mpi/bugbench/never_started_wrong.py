"""A persistent receive is waited for but never started.

Wait returns at once for an inactive request, so the message has no receive.

category: request lifecycle
finding: unreceived, error
also: requests
section: 11.2.2
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
values = np.zeros(4)
if rank == 0:
    comm.Send(np.arange(4.0), dest=1)  # first
else:
    request = comm.Recv_init(values, source=0)
    request.Wait()
    request.Free()
    print(values.sum())

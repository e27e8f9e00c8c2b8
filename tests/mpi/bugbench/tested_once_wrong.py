"""A receive is tested once, before its message is sent, and then forgotten.

A test that returns false completes nothing, so the receive is pending at the end.

category: request lifecycle
finding: requests, error
section: 11.2.2
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
go = np.zeros(1)
if rank == 0:
    comm.Recv(go, source=1)
    comm.Send(np.arange(4.0), dest=1, tag=1)
else:
    values = np.zeros(4)
    request = comm.Irecv(values, source=0, tag=1)  # first
    if not request.Test():
        print("no values yet")
    comm.Send(go, dest=0)
comm.Barrier()

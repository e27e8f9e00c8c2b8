"""A receive is tested once, before its message is sent, and completed later.

Wait completes the receive that the test found pending.

category: request lifecycle
finding: none
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
    request = comm.Irecv(values, source=0, tag=1)
    if not request.Test():
        print("no values yet")
    comm.Send(go, dest=0)
    request.Wait()
comm.Barrier()

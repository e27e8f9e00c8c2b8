"""A process forwards values whose receive is still pending.

The receive buffer must not be accessed before the receive is complete.

category: local concurrency
finding: buffers, error
section: 3.7.2
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
values = np.full(4, -1.0)
if rank == 0:
    comm.Send(np.arange(4.0), dest=1)
elif rank == 1:
    request = comm.Irecv(values, source=0)  # first
    comm.Send(values, dest=2)  # second
    request.Wait()
else:
    comm.Recv(values, source=1)
    print(values)

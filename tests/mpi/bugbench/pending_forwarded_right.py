"""A process forwards values after their receive is complete.

Wait completes the receive before the send reads the buffer.

category: local concurrency
finding: none
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
    request = comm.Irecv(values, source=0)
    request.Wait()
    comm.Send(values, dest=2)
else:
    comm.Recv(values, source=1)
    print(values)

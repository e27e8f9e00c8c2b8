"""A receive buffer is cleared before its receive is started.

Nothing writes to the buffer while the receive is pending.

category: local concurrency
finding: none
section: 3.7.2
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    comm.Send(np.arange(1.0, 5.0), dest=1)
else:
    total = np.full(6, 7.0)
    total[:] = 0
    request = comm.Irecv(total, source=0)
    request.Wait()
    print(total)

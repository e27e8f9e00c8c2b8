"""A persistent receive is started and waited for.

The started receive matches the message.

category: request lifecycle
finding: none
section: 11.2.2
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
values = np.zeros(4)
if rank == 0:
    comm.Send(np.arange(4.0), dest=1)
else:
    request = comm.Recv_init(values, source=0)
    request.Start()
    request.Wait()
    request.Free()
    print(values.sum())

"""Two receives from any source have buffers for one order of the senders.

If the long message comes first, it overflows the short buffer.

category: message race
finding: types, error
also: arguments
section: 3.2.4
processors: 3
options: --arrivals all
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    head, body = np.empty(2), np.empty(50)
    comm.Recv(head, source=MPI.ANY_SOURCE)  # first
    comm.Recv(body, source=MPI.ANY_SOURCE)
    print(head.sum() + body.sum())
elif rank == 1:
    comm.Send(np.zeros(2), dest=0)
else:
    comm.Send(np.ones(50), dest=0)  # second

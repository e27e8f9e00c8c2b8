"""Two receives name their sources, so each message finds its buffer.

Named sources fix the order of the messages.

category: message race
finding: none
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
    comm.Recv(head, source=1)
    comm.Recv(body, source=2)
    print(head.sum() + body.sum())
elif rank == 1:
    comm.Send(np.zeros(2), dest=0)
else:
    comm.Send(np.ones(50), dest=0)

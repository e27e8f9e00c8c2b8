"""A header is sent and received before its field.

Both processes use the same order.

category: buffering hazard
finding: none
section: 3.5
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
header, field = np.array([20_000.0]), np.ones(20_000)
if rank == 0:
    comm.Send(header, dest=1, tag=1)
    comm.Send(field, dest=1, tag=2)
else:
    comm.Recv(header, source=0, tag=1)
    comm.Recv(field, source=0, tag=2)
    print(header, field.sum())

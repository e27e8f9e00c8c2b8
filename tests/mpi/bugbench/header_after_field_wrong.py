"""A field is sent before its header, but the header is received first.

The send of the field may wait for its receive, which waits for the header.

category: buffering hazard
finding: sends, error
also: deadlock
section: 3.5
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
header, field = np.array([20_000.0]), np.ones(20_000)
if rank == 0:
    comm.Send(field, dest=1, tag=2)  # first
    comm.Send(header, dest=1, tag=1)
else:
    comm.Recv(header, source=0, tag=1)  # second
    comm.Recv(field, source=0, tag=2)
    print(header, field.sum())

"""A buffered send is made without an attached buffer.

A buffered send without sufficient buffer space is erroneous.

category: invalid parameter
finding: arguments, error
also: sends
section: 3.5
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
values = np.full(100, float(rank))
if rank == 0:
    comm.Bsend(values, dest=1)  # first
else:
    comm.Recv(values, source=0)
print(values[0])

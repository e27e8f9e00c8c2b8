"""A buffered send is made with an attached buffer of sufficient size.

The buffer holds the message and the overhead; the detachment waits for the message.

category: invalid parameter
finding: none
section: 3.5
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
values = np.full(100, float(rank))
if rank == 0:
    space = MPI.DOUBLE.Pack_size(100, comm) + MPI.BSEND_OVERHEAD
    MPI.Attach_buffer(bytearray(space))
    comm.Bsend(values, dest=1)
    MPI.Detach_buffer()
else:
    comm.Recv(values, source=0)
print(values[0])

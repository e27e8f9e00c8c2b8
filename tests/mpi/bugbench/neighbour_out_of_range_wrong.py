"""The last process of a line sends to a neighbour that does not exist.

The destination must be a rank of the communicator or PROC_NULL.

category: invalid parameter
finding: arguments, error
section: 3.2.3
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
before, after = rank - 1, rank + 1
mine, theirs = np.array([float(rank)]), np.zeros(1)
comm.Send(mine, dest=after)  # first
if before >= 0:
    comm.Recv(theirs, source=before)
print(theirs)

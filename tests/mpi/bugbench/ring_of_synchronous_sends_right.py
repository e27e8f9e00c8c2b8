"""All processes of a ring send synchronously, but the first one receives first.

The first process receives, which lets its neighbours go on one after the other.

category: call ordering
finding: none
section: 3.4
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
after, before = (rank + 1) % comm.size, (rank - 1) % comm.size
mine, theirs = np.array([float(rank)]), np.empty(1)
if rank == 0:
    comm.Recv(theirs, source=before)
    comm.Ssend(mine, dest=after)
else:
    comm.Ssend(mine, dest=after)
    comm.Recv(theirs, source=before)
print(theirs)

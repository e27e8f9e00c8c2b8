"""All processes of a ring send synchronously before they receive.

No synchronous send ends before its receive, and all receives come later.

category: call ordering
finding: deadlock, error
also: sends
section: 3.4
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
after, before = (rank + 1) % comm.size, (rank - 1) % comm.size
mine, theirs = np.array([float(rank)]), np.empty(1)
comm.Ssend(mine, dest=after)  # first
comm.Recv(theirs, source=before)
print(theirs)

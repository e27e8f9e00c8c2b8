"""All processes of a ring send and receive a large array in one call.

Sendrecv needs no buffer space.

category: buffering hazard
finding: none
section: 3.5
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
mine, theirs = np.full(50_000, float(rank)), np.empty(50_000)
after, before = (rank + 1) % comm.size, (rank - 1) % comm.size
comm.Sendrecv(mine, dest=after, recvbuf=theirs, source=before)
print(theirs[0])

"""All processes of a ring send a large array before they receive one.

The program needs buffer space for at least one of the arrays.

category: buffering hazard
finding: sends, error
also: deadlock
section: 3.5
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
mine, theirs = np.full(50_000, float(rank)), np.empty(50_000)
comm.Send(mine, dest=(rank + 1) % comm.size)  # first
comm.Recv(theirs, source=(rank - 1) % comm.size)
print(theirs[0])

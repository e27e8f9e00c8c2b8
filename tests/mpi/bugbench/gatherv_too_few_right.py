"""The root expects as many numbers of each process as the process sends.

The counts agree.

category: parameter matching
finding: none
section: 6.5
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
mine = np.full(1 if rank == 2 else 2, float(rank))
if rank == 0:
    everything = np.full(6, -1.0)
    place = [everything, [2, 2, 1], [0, 2, 4], MPI.DOUBLE]
    comm.Gatherv(mine, place, root=0)
    print(everything)
else:
    comm.Gatherv(mine, None, root=0)

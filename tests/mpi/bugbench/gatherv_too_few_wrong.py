"""The root expects two numbers of each process, but the last one sends one.

The amount of data sent must equal the amount that the root expects.

category: parameter matching
finding: collectives, error
also: types
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
    place = [everything, [2, 2, 2], [0, 2, 4], MPI.DOUBLE]
    comm.Gatherv(mine, place, root=0)  # first
    print(everything)
else:
    comm.Gatherv(mine, None, root=0)  # second

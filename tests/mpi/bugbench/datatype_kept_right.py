"""A function commits a datatype for each message and frees it after the call.

A datatype may be freed as soon as the blocking call has returned.

category: resource leak
finding: none
section: 11.2.2
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank


def exchange(grid, other, column):
    kind = MPI.DOUBLE.Create_vector(3, 1, 4).Commit()
    spot = grid.reshape(-1)[column:]
    comm.Sendrecv_replace([spot, 1, kind], dest=other, source=other)
    kind.Free()


grid = np.full((3, 4), float(rank))
exchange(grid, 1 - rank, 3)
print(grid[:, 3])

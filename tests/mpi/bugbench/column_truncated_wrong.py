"""A column of five numbers arrives in a ghost column of four.

The message is longer than the receive buffer, which is an overflow error.

category: parameter matching
finding: types, error
also: arguments
section: 3.2.4
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
column = MPI.DOUBLE.Create_vector(5, 1, 6).Commit()
if rank == 0:
    grid = np.arange(30.0).reshape(5, 6)
    comm.Send([grid, 1, column], dest=1)  # first
else:
    ghost = np.empty(4)
    comm.Recv([ghost, MPI.DOUBLE], source=0)  # second
    print(ghost.sum())
column.Free()

"""A datatype describes the last column of a grid of four rows.

The last element of the column is the last element of the array.

category: invalid parameter
finding: none
section: 5.1.12
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
column = MPI.DOUBLE.Create_vector(4, 1, 6).Commit()
if rank == 0:
    grid = np.ones((4, 6))
    last = grid.reshape(-1)[5:]
    comm.Send([last, 1, column], dest=1)
else:
    values = np.empty(4)
    comm.Recv([values, MPI.DOUBLE], source=0)
    print(values)
column.Free()

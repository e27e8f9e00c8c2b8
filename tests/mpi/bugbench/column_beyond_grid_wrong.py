"""A datatype describes a column of five rows, but the grid has four.

The last element lies behind the end of the array.

category: invalid parameter
finding: arguments, error
section: 5.1.12
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
column = MPI.DOUBLE.Create_vector(5, 1, 6).Commit()
if rank == 0:
    grid = np.ones((4, 6))
    comm.Send([grid, 1, column], dest=1)  # first
else:
    values = np.empty(5)
    comm.Recv([values, MPI.DOUBLE], source=0)
    print(values[:4])
column.Free()

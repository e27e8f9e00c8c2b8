"""A column of five numbers arrives in a longer ghost column.

A message may be shorter than the receive buffer, and a vector of five doubles matches doubles.

category: parameter matching
finding: none
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
    comm.Send([grid, 1, column], dest=1)
else:
    ghost, status = np.empty(6), MPI.Status()
    comm.Recv([ghost, MPI.DOUBLE], source=0, status=status)
    print(ghost[: status.Get_count(MPI.DOUBLE)].sum())
column.Free()

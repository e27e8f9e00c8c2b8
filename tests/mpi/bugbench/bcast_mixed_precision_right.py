"""The root broadcasts eight doubles, and all others expect two blocks of four.

Eight DOUBLE and two blocks of four DOUBLE have the same signature.

category: parameter matching
finding: none
section: 6.4
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    table = np.linspace(0, 1, 8)
    comm.Bcast([table, MPI.DOUBLE], root=0)
else:
    block = MPI.DOUBLE.Create_contiguous(4).Commit()
    table = np.empty(8)
    comm.Bcast([table, 2, block], root=0)
    block.Free()
print(table.sum())

"""A message uses a datatype that is not committed.

A datatype has to be committed before a communication uses it.

category: invalid parameter
finding: arguments, error
section: 5.1.9
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
kind = MPI.DOUBLE.Create_contiguous(3)
values = np.full(6, float(rank))
if rank == 0:
    comm.Send([values, 2, kind], dest=1)  # first
else:
    comm.Recv([values, 6, MPI.DOUBLE], source=0)
print(values)
kind.Free()

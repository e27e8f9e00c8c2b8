"""A receive uses a datatype whose blocks overlap.

A datatype of a receive must not have overlapping entries.

category: invalid parameter
finding: arguments, error
also: types, buffers
section: 5.1.11
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
kind = MPI.DOUBLE.Create_indexed([3, 3], [0, 2]).Commit()
values = np.arange(6.0)
if rank == 0:
    comm.Send([values, MPI.DOUBLE], dest=1)
else:
    comm.Recv([values, 1, kind], source=0)  # first
print(values)
kind.Free()

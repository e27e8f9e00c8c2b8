"""An uncommitted datatype is part of a committed one, which a message uses.

A constructor accepts uncommitted datatypes.

category: invalid parameter
finding: none
section: 5.1.9
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
row = MPI.DOUBLE.Create_contiguous(3)
kind = row.Create_contiguous(2).Commit()
row.Free()
values = np.full(6, float(rank))
if rank == 0:
    comm.Send([values, 1, kind], dest=1)
else:
    comm.Recv([values, 6, MPI.DOUBLE], source=0)
print(values)
kind.Free()

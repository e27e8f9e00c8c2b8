"""A send uses a datatype whose blocks overlap.

A send only reads, so its datatype may name an entry twice.

category: invalid parameter
finding: none
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
    comm.Send([values, 1, kind], dest=1)
else:
    comm.Recv([values, MPI.DOUBLE], source=0)
print(values)
kind.Free()

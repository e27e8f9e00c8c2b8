"""All processes broadcast in rows first.

Equal orders leave no cycle, even if broadcasts synchronize.

category: call ordering
finding: none
section: 6.14
processors: 4
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
rows, columns = comm.Split(rank // 2, rank), comm.Split(rank % 2, rank)
values = np.full(3, float(rank))
rows.Bcast(values, root=0)
columns.Bcast(values, root=0)
print(values)
rows.Free()
columns.Free()

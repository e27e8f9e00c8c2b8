"""Two processes broadcast in rows first, the two others in columns first.

If broadcasts synchronize, the four processes wait for one another in a cycle.

category: call ordering
finding: collectives, error
also: deadlock
section: 6.14
processors: 4
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
rows, columns = comm.Split(rank // 2, rank), comm.Split(rank % 2, rank)
values = np.full(3, float(rank))
if rank in (0, 3):
    rows.Bcast(values, root=0)  # first
    columns.Bcast(values, root=0)
else:
    columns.Bcast(values, root=0)  # second
    rows.Bcast(values, root=0)
print(values)
rows.Free()
columns.Free()

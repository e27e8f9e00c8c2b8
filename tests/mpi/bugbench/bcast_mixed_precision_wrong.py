"""The root broadcasts doubles, and all others expect as many bytes of floats.

The type signature of each process must equal that of the root.

category: parameter matching
finding: types, error
also: collectives
section: 6.4
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    table = np.linspace(0, 1, 8)
    comm.Bcast([table, MPI.DOUBLE], root=0)  # first
else:
    table = np.empty(16, dtype=np.float32)
    comm.Bcast([table, MPI.FLOAT], root=0)  # second
print(len(table))

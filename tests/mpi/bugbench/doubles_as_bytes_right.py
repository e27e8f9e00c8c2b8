"""Doubles are sent and received as raw bytes.

Both sides use BYTE, so the types of the variables do not matter.

category: parameter matching
finding: none
section: 3.3.1
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    values = np.arange(3.0)
    comm.Send([values, MPI.BYTE], dest=1)
else:
    raw = bytearray(24)
    comm.Recv([raw, MPI.BYTE], source=0)
    print(np.frombuffer(raw).sum())

"""Doubles are received as raw bytes.

BYTE matches BYTE alone: a typed value must not be received untyped.

category: parameter matching
finding: types, error
section: 3.3.1
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    values = np.arange(3.0)
    comm.Send([values, MPI.DOUBLE], dest=1)  # first
else:
    raw = bytearray(24)
    comm.Recv([raw, MPI.BYTE], source=0)  # second
    print(np.frombuffer(raw).sum())

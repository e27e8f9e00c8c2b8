"""A field of complex numbers is received as pairs of floats.

C_FLOAT_COMPLEX is a basic type of its own, and matches no sequence of FLOAT.

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
    field = np.arange(4, dtype=np.complex64)
    comm.Send([field, MPI.C_FLOAT_COMPLEX], dest=1)  # first
else:
    parts = np.empty(8, dtype=np.float32)
    comm.Recv([parts, MPI.FLOAT], source=0)  # second
    print(parts.sum())

"""A field of complex numbers is received as complex numbers and viewed as pairs of floats.

Both calls name four C_FLOAT_COMPLEX; the view as floats is local.

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
    field = np.arange(4, dtype=np.complex64)
    comm.Send([field, MPI.C_FLOAT_COMPLEX], dest=1)
else:
    field = np.empty(4, dtype=np.complex64)
    comm.Recv([field, MPI.C_FLOAT_COMPLEX], source=0)
    parts = field.view(np.float32)
    print(parts.sum())

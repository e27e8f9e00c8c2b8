"""A file is written and not closed.

A program must close its files before it finalizes.

category: resource leak
finding: handles, warning
section: 14.2.1
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
mode = MPI.MODE_CREATE | MPI.MODE_WRONLY
file = MPI.File.Open(comm, "field.bin", mode)  # first
file.Write_at_all(rank * 32, np.full(4, float(rank)))
print("written")

"""A file is written and closed.

All processes close the file.

category: resource leak
finding: none
section: 14.2.1
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
mode = MPI.MODE_CREATE | MPI.MODE_WRONLY
file = MPI.File.Open(comm, "field.bin", mode)
file.Write_at_all(rank * 32, np.full(4, float(rank)))
file.Close()
print("written")

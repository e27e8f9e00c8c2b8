"""The receive buffer of an exchange begins within its send buffer.

An output argument must not be aliased with another argument.

category: invalid parameter
finding: arguments, error
also: buffers
section: 2.3
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
line = np.arange(8.0) + 10 * rank
comm.Alltoall(line[0:4], line[2:6])  # first
print(line)

"""The receive buffer of an exchange begins behind its send buffer.

The buffers are adjacent parts of one array.

category: invalid parameter
finding: none
section: 2.3
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
line = np.arange(8.0) + 10 * rank
comm.Alltoall(line[0:4], line[4:8])
print(line)

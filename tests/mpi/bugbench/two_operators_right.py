"""Both processes ask for the largest and then the smallest value.

The operators agree in each call.

category: parameter matching
finding: none
section: 6.9.6
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
local, largest, smallest = np.array([3.0 + rank]), np.empty(1), np.empty(1)
comm.Allreduce(local, largest, op=MPI.MAX)
comm.Allreduce(local, smallest, op=MPI.MIN)
print(largest - smallest)

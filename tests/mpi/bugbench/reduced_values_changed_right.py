"""The input of a reduction is incremented after the reduction.

Wait completes the reduction before the increment.

category: local concurrency
finding: none
section: 6.12
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
local, total = np.full(3, float(rank)), np.empty(3)
request = comm.Iallreduce(local, total, op=MPI.SUM)
request.Wait()
local += 1
print(total)

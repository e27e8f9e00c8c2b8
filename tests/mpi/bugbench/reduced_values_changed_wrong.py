"""The input of a pending reduction is incremented.

The buffers of a nonblocking collective operation belong to MPI until its completion.

category: local concurrency
finding: buffers, error
section: 6.12
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
local, total = np.full(3, float(rank)), np.empty(3)
request = comm.Iallreduce(local, total, op=MPI.SUM)  # first
local += 1  # second
request.Wait()  # second
print(total)

"""Both processes start a nonblocking broadcast.

Both calls are nonblocking, and each process completes its own at any time.

category: parameter matching
finding: none
section: 6.12
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
values = np.arange(3.0) if rank == 0 else np.zeros(3)
request = comm.Ibcast(values, root=0)
if rank == 0:
    print("started")
request.Wait()
print(values)

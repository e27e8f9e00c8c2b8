"""Two processes add to an element.

Concurrent accumulates with one datatype and one operator may update an element.

category: global concurrency
finding: none
section: 12.7
processors: 3
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
window, one = MPI.Win.Allocate(8, 8, comm=comm), np.ones(1)
np.frombuffer(window.tomemory())[0] = 0
window.Fence()
if rank > 0:
    window.Accumulate(one, 0, op=MPI.SUM)
window.Fence()
if rank == 0:
    print(np.frombuffer(window.tomemory())[0])
window.Free()

"""The array of a persistent send takes the next state while the request is inactive.

The array changes between a completion and the next start.

category: local concurrency
finding: none
section: 3.9
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
state = np.zeros(3)
if rank == 0:
    request = comm.Send_init(state, dest=1)
    for _ in range(3):
        request.Start()
        request.Wait()
        state += 1
    request.Free()
else:
    for _ in range(3):
        comm.Recv(state, source=0)
        print(state)

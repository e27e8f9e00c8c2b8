"""A persistent send is active while its array takes the next state.

The buffer must not change between the start and the completion of the request.

category: local concurrency
finding: buffers, error
section: 3.9
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
state = np.zeros(3)
if rank == 0:
    request = comm.Send_init(state, dest=1)  # first
    for _ in range(3):
        request.Start()  # first
        state += 1  # second
        request.Wait()  # second
    request.Free()
else:
    for _ in range(3):
        comm.Recv(state, source=0)
        print(state)

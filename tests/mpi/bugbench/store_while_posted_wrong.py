"""The owner of a window stores to it while the other process adds to it.

A posted window must not be stored to where it is updated by another process.

category: global concurrency
finding: rma, error
section: 12.7
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
window, one = MPI.Win.Allocate(8, 8, comm=comm), np.ones(1)
memory = np.frombuffer(window.tomemory())
everyone = comm.Get_group()
other = everyone.Incl([1 - rank])
if rank == 0:
    window.Post(other)
    memory[0] = 5  # second
    window.Wait()  # second
else:
    window.Start(other)
    window.Accumulate(one, 0, op=MPI.SUM)  # first
    window.Complete()
other.Free()
everyone.Free()
window.Free()

"""The owner of a window stores to it before the other process adds to it.

The store ends before the window is posted.

category: global concurrency
finding: none
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
    memory[0] = 5
    window.Post(other)
    window.Wait()
    print(memory[0])
else:
    window.Start(other)
    window.Accumulate(one, 0, op=MPI.SUM)
    window.Complete()
other.Free()
everyone.Free()
window.Free()

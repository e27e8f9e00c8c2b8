"""Each process leaves the iteration when its own error is small.

The processes make different numbers of reductions before the barrier.

category: call ordering
finding: collectives, error
also: deadlock
section: 6.14
processors: 3
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
error = 1.0 / (rank + 1)
while error > 0.1:
    error *= 0.5
    total = comm.allreduce(error)  # first
comm.Barrier()  # second
print(total)

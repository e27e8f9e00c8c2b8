"""All processes leave the iteration when the sum of errors is small.

The sum is the same on all processes, so all make the same number of reductions.

category: call ordering
finding: none
section: 6.14
processors: 3
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
error = 1.0 / (rank + 1)
total = comm.allreduce(error)
while total > 0.1:
    error *= 0.5
    total = comm.allreduce(error)
comm.Barrier()
print(total)

"""The root scatters and gathers, all others gather and scatter.

All members must call collective operations in the same order.

category: call ordering
finding: collectives, error
also: deadlock
section: 6.14
processors: 3
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    part = comm.scatter([1, 2, 3], root=0)  # first
    print(comm.gather(2 * part, root=0))
else:
    comm.gather(rank, root=0)  # second
    part = comm.scatter(None, root=0)

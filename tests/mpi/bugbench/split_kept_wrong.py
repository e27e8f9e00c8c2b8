"""A communicator of half of the processes is never freed.

Finalization does not free communicators that a program created.

category: resource leak
finding: handles, warning
section: 11.2.2
processors: 4
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
half = comm.Split(rank % 2, rank)  # first
print(half.allreduce(rank))

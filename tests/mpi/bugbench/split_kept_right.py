"""A communicator of half of the processes is freed.

Each process frees the communicator that it got.

category: resource leak
finding: none
section: 11.2.2
processors: 4
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
half = comm.Split(rank % 2, rank)
print(half.allreduce(rank))
half.Free()

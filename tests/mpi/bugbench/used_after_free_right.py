"""A barrier uses a communicator before it is freed.

The communicator is freed after its last use.

category: invalid parameter
finding: none
section: 7.4.3
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
private = comm.Dup()
print(private.allreduce(rank))
private.Barrier()
private.Free()

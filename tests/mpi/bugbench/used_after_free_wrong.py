"""A barrier uses a communicator that is freed.

Free sets the handle to COMM_NULL, which no barrier accepts.

category: invalid parameter
finding: arguments, error
also: handles
section: 7.4.3
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
private = comm.Dup()
print(private.allreduce(rank))
private.Free()  # second
private.Barrier()  # first

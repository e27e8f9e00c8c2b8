"""The request of a barrier is freed before the other process comes.

A request of a nonblocking collective operation must not be freed.

category: request lifecycle
finding: requests, error
section: 6.12
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    request = comm.Ibarrier()  # first
    request.Free()  # second
    comm.send("go", dest=1)
else:
    print(comm.recv(source=0))
    comm.Ibarrier().Wait()

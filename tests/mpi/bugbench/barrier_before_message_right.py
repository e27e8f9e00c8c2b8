"""A process sends between the start and the completion of a barrier.

The message does not wait for the barrier.

category: call ordering
finding: none
section: 6.14
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    request = comm.Ibarrier()
    comm.ssend("data", dest=1)
    request.Wait()
else:
    print(comm.recv(source=0))
    comm.Ibarrier().Wait()

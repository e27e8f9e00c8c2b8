"""The request of a barrier is completed after the other process has come.

The message and the barrier are independent, and Wait completes the barrier.

category: request lifecycle
finding: none
section: 6.12
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    request = comm.Ibarrier()
    comm.send("go", dest=1)
    request.Wait()
else:
    print(comm.recv(source=0))
    comm.Ibarrier().Wait()

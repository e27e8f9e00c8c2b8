"""A process completes a barrier before it sends the message that the other process awaits.

The barrier waits for the other process, which waits for the message.

category: call ordering
finding: deadlock, error
also: collectives
section: 6.14
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    comm.Ibarrier().Wait()  # first
    comm.ssend("data", dest=1)
else:
    print(comm.recv(source=0))  # second
    comm.Ibarrier().Wait()

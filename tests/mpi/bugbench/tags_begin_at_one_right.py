"""Sender and receiver number their tags from one, but the receives are in reverse order.

Nonblocking sends let the receiver choose the order by tags.

category: parameter matching
finding: none
section: 3.2.4
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    for step in (2, 1):
        print(comm.recv(source=1, tag=step))
else:
    requests = [comm.isend(step, dest=0, tag=step) for step in range(1, 3)]
    MPI.Request.waitall(requests)

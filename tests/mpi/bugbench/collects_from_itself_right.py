"""The collector of results waits for the results of all others.

Each receive has a send.

category: missing call
finding: none
section: 3.5
processors: 3
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    total = 0
    for source in range(1, comm.size):
        total += comm.recv(source=source)
    print(total)
else:
    comm.send(rank * rank, dest=0)

"""The collector of results also waits for a result of its own.

No process sends a message to the collector from the collector's rank.

category: missing call
finding: deadlock, error
section: 3.5
processors: 3
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    total = 0
    for source in range(comm.size):
        total += comm.recv(source=source)  # first
    print(total)
else:
    comm.send(rank * rank, dest=0)

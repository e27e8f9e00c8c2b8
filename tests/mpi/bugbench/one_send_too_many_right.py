"""Sender and receiver make the same number of steps.

Each message has a receive.

category: missing call
finding: none
section: 11.2.2
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
steps = 3
if rank == 0:
    for step in range(steps + 1):
        comm.send(step, dest=1)
else:
    for _ in range(steps + 1):
        print(comm.recv(source=0))

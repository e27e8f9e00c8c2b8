"""Two processes send large objects to each other before they receive.

The program needs buffer space for at least one of the objects.

category: buffering hazard
finding: sends, error
also: deadlock
section: 3.5
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
table = {number: number**2 for number in range(30_000)}
comm.send(table, dest=1 - rank)  # first
other = comm.recv(source=1 - rank)
print(len(other))

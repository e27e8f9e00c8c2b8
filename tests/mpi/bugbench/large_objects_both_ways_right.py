"""Two processes exchange large objects; one of them receives first.

Each send has a receive that does not wait for another send.

category: buffering hazard
finding: none
section: 3.5
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
table = {number: number**2 for number in range(30_000)}
if rank == 0:
    comm.send(table, dest=1)
    other = comm.recv(source=1)
else:
    other = comm.recv(source=0)
    comm.send(table, dest=0)
print(len(other))

"""The root scatters before it sends the message that the other process needs first.

If scatter synchronizes, each process waits for the other.

category: call ordering
finding: collectives, error
also: deadlock
section: 6.14
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    part = comm.scatter(["a", "b"], root=0)  # first
    comm.send("unit", dest=1)
else:
    unit = comm.recv(source=0)  # second
    part = comm.scatter(None, root=0)
print(part)

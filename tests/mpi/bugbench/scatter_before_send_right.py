"""The root sends the message that the other process needs first, and then scatters.

The order of message and scatter is the same on both processes.

category: call ordering
finding: none
section: 6.14
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    comm.send("unit", dest=1)
    part = comm.scatter(["a", "b"], root=0)
else:
    unit = comm.recv(source=0)
    part = comm.scatter(None, root=0)
print(part)

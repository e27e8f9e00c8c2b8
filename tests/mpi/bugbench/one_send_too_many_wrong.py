"""The sender makes one more step than the receiver.

The target of a send must post a matching receive before it finalizes.

category: missing call
finding: unreceived, error
section: 11.2.2
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
steps = 3
if rank == 0:
    for step in range(steps + 1):
        comm.send(step, dest=1)  # first
else:
    for _ in range(steps):
        print(comm.recv(source=0))

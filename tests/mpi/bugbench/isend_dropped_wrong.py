"""A loop starts sends of objects and drops their requests.

A process must complete all operations that it initiated before it finalizes.

category: request lifecycle
finding: requests, error
section: 11.2.2
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    for step in range(3):
        comm.isend({"step": step}, dest=1, tag=step)  # first
else:
    for step in range(3):
        print(comm.recv(source=0, tag=step)["step"])

"""A loop starts sends of objects and completes them after the loop.

Each request is kept and completed.

category: request lifecycle
finding: none
section: 11.2.2
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    requests = []
    for step in range(3):
        requests.append(comm.isend({"step": step}, dest=1, tag=step))
    MPI.Request.waitall(requests)
else:
    for step in range(3):
        print(comm.recv(source=0, tag=step)["step"])

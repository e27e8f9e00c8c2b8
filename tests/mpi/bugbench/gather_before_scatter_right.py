"""All processes scatter and gather.

All members call scatter, then gather.

category: call ordering
finding: none
section: 6.14
processors: 3
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    part = comm.scatter([1, 2, 3], root=0)
    print(comm.gather(2 * part, root=0))
else:
    part = comm.scatter(None, root=0)
    comm.gather(2 * part, root=0)

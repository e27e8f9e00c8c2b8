"""Pi as an integral: every rank adds up its share of the intervals, rank 0 adds the shares."""

import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

intervals = comm.bcast(int(sys.argv[1]) if rank == 0 else None)
middles = ((i + 0.5) / intervals for i in range(rank, intervals, size))
pi = comm.reduce(sum(4 / (1 + x * x) for x in middles) / intervals)
if rank == 0:
    print(f"pi is about {pi:.6f}")

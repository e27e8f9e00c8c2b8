"""A matrix times a vector: every rank has some rows, and gathers the whole vector."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

rows = 4
first = rank * rows
matrix = np.add.outer(np.arange(first, first + rows), np.arange(float(size * rows)))
part = np.arange(first, first + rows, dtype=float)

vector = np.empty(size * rows)
comm.Allgather(part, vector)
product = matrix @ vector

whole = np.empty(size * rows)
comm.Gather(product, whole)
if rank == 0:
    print(f"the product begins with {whole[0]:.0f} and ends with {whole[-1]:.0f}")

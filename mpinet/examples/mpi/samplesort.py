"""Sample sort: every rank starts with random keys and ends with its share of all sorted keys."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

keys = np.sort(np.random.default_rng(rank).random(100 * size))
samples = comm.gather(keys[50::100]) or []
splitters = np.sort(np.concatenate(samples))[size::size] if rank == 0 else None
splitters = comm.bcast(splitters)
parts = comm.alltoall(np.split(keys, np.searchsorted(keys, splitters)))
keys = np.sort(np.concatenate(parts))

lowest = comm.sendrecv(keys[0], dest=(rank - 1) % size, source=(rank + 1) % size)
ordered = rank == size - 1 or keys[-1] <= lowest
total, right = comm.reduce(len(keys)), comm.reduce(ordered, op=MPI.LAND)
if rank == 0:
    print(f"{total} keys in order: {right}")

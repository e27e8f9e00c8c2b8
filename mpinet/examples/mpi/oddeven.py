"""Odd-even transposition sort of blocks: neighbours keep their lower and higher halves."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

keys = np.sort(np.random.default_rng(rank).integers(0, 1000, 8))
for turn in range(size):
    partner = rank + (1 if (rank + turn) % 2 == 0 else -1)
    if not 0 <= partner < size:
        partner = MPI.PROC_NULL
    others = np.empty_like(keys)
    comm.Sendrecv(keys, partner, recvbuf=others, source=partner)
    if partner != MPI.PROC_NULL:
        both = np.sort(np.concatenate([keys, others]))
        keys = both[:8] if rank < partner else both[8:]

print(rank, *keys)

"""A pending receive and a pending send use adjacent parts of a line.

The parts have no element in common.

category: local concurrency
finding: none
section: 3.7.2
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
line, other = np.arange(10.0) + 100 * rank, 1 - rank
receive = comm.Irecv(line[0:5], source=other)
send = comm.Isend(line[5:10], dest=other)
MPI.Request.Waitall([receive, send])
print(line)

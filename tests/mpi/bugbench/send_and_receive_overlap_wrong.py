"""A pending receive and a pending send share one element of a line.

The receive writes to an element that the send reads.

category: local concurrency
finding: buffers, error
section: 3.7.2
processors: 2
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
line, other = np.arange(10.0) + 100 * rank, 1 - rank
receive = comm.Irecv(line[0:5], source=other)  # first
send = comm.Isend(line[4:9], dest=other)  # second
MPI.Request.Waitall([receive, send])
print(line)

"""Each step duplicates the communicator and keeps the duplicate.

Contexts are limited: an MPI library fails after some number of communicators.

category: resource leak
finding: handles, error
section: 7.4.3
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
for step in range(40):
    private = comm.Dup()  # first
    last = private.bcast(step, root=0)
print(last)

"""Each step duplicates the communicator and frees the duplicate.

At most one duplicate exists at a time.

category: resource leak
finding: none
section: 7.4.3
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
for step in range(40):
    private = comm.Dup()
    last = private.bcast(step, root=0)
    private.Free()
print(last)

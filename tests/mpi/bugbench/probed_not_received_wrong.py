"""A matched probe takes a message that is never received.

All message handles must be received before a process finalizes.

category: missing call
finding: unreceived, error
also: handles, requests
section: 11.2.2
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    comm.send("result", dest=1, tag=4)  # first
else:
    message = comm.mprobe(source=0, tag=4)  # second
    print("a result has come")

"""A matched probe takes a message that is received by its handle.

The handle receives the message.

category: missing call
finding: none
section: 11.2.2
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    comm.send("result", dest=1, tag=4)
else:
    message = comm.mprobe(source=0, tag=4)
    print("a result has come:", message.recv())

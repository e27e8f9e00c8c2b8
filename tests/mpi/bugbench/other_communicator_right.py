"""A message is received from the communicator that carries it.

Both calls use the duplicate.

category: missing call
finding: none
section: 11.2.2
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
private = comm.Dup()
if rank == 0:
    request = private.isend("stop", dest=1)
comm.Barrier()
if rank == 0:
    request.wait()
else:
    print("public" if comm.iprobe(source=0) else "private", private.recv(source=0))
private.Free()

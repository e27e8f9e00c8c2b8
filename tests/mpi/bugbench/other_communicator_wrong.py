"""A message of one communicator is looked for in another one.

Communicators separate messages, so the message is never received.

category: missing call
finding: unreceived, error
section: 11.2.2
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
private = comm.Dup()
if rank == 0:
    request = private.isend("stop", dest=1)  # first
comm.Barrier()
if rank == 0:
    request.wait()
else:
    print("stopped" if comm.iprobe(source=0) else "still running")
private.Free()

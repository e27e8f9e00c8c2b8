"""A receive from any source may take the message of the next receive.

If the first receive takes the message of rank 2, the second one waits for ever.

category: message race
finding: deadlock, error
also: unreceived
section: 3.5
processors: 3
options: --arrivals all
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    print(comm.recv(source=MPI.ANY_SOURCE))
    print(comm.recv(source=2))  # first
else:
    comm.send(f"from {rank}", dest=0)

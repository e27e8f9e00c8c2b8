"""Receives from any source come after the receive that names its source.

The named message is received first; then one message is left for the wildcard.

category: message race
finding: none
section: 3.5
processors: 3
options: --arrivals all
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    print(comm.recv(source=2))
    print(comm.recv(source=MPI.ANY_SOURCE))
else:
    comm.send(f"from {rank}", dest=0)

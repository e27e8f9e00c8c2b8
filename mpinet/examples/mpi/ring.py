"""A token passes once round all ranks; each rank adds its number."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
before, behind = (rank - 1) % size, (rank + 1) % size

if rank == 0:
    comm.send(0, dest=behind)
token = comm.recv(source=before)
if rank > 0:
    comm.send(token + rank, dest=behind)
else:
    print(f"the token comes back with {token}")

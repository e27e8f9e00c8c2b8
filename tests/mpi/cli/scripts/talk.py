"""Collectives and messages across the machine, in packets."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
words = comm.bcast({"a": list(range(40))}, root=5)
comm.send(comm.rank, (comm.rank + 5) % comm.size)
got = comm.recv(source=(comm.rank - 5) % comm.size)
comm.Barrier()
assert comm.allreduce(got) == sum(range(comm.size))

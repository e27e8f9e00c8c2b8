"""The sender numbers its tags from one, and the receiver from zero.

The first receive matches no message.

category: parameter matching
finding: deadlock, error
also: unreceived
section: 3.2.4
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 0:
    for step in range(2):
        print(comm.recv(source=1, tag=step))  # first
else:
    for step in range(1, 3):
        comm.send(step, dest=0, tag=step)  # second

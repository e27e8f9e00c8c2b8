"""The group of the workers is kept after its communicator is made.

Finalization does not free groups that a program created.

category: resource leak
finding: handles, warning
section: 11.2.2
processors: 3
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
everyone = comm.Get_group()
workers = everyone.Excl([0])  # first
everyone.Free()
team = comm.Create(workers)
if team != MPI.COMM_NULL:
    print(team.allreduce(rank))
    team.Free()

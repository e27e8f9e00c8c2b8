"""The group of the workers is freed after its communicator is made.

The communicator does not need the group any longer.

category: resource leak
finding: none
section: 11.2.2
processors: 3
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
everyone = comm.Get_group()
workers = everyone.Excl([0])
everyone.Free()
team = comm.Create(workers)
workers.Free()
if team != MPI.COMM_NULL:
    print(team.allreduce(rank))
    team.Free()

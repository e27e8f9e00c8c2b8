"""Sender and receiver store particles differently, but declare the same order of members.

Displacements may differ: only the sequence of basic types has to match.

category: parameter matching
finding: none
section: 3.3.1
processors: 2
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank


def particles(offsets, kinds, size):
    packed = MPI.Datatype.Create_struct([1, 1], offsets, kinds)
    spaced = packed.Create_resized(0, size)
    packed.Free()
    return spaced.Commit()


if rank == 0:
    kind = particles([0, 8], [MPI.INT, MPI.DOUBLE], 16)
    comm.Send([bytearray(48), 3, kind], dest=1)
else:
    kind = particles([8, 0], [MPI.INT, MPI.DOUBLE], 16)
    comm.Recv([bytearray(48), 3, kind], source=0)
kind.Free()

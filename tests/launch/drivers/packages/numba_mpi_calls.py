"""numba-mpi: messages from within compiled code."""

import numba
import numba_mpi
import numpy


@numba.njit
def shifted(turns):
    rank, size = numba_mpi.rank(), numba_mpi.size()
    here, there = numpy.full(3, float(rank)), numpy.empty(3)
    for _ in range(turns):
        _, sent = numba_mpi.isend(here, (rank + 1) % size, 5)
        _, received = numba_mpi.irecv(there, (rank - 1) % size, 5)
        numba_mpi.waitall((sent, received))
        here[:] = there
    return here[0]


@numba.njit
def together():
    rank, size = numba_mpi.rank(), numba_mpi.size()
    own, found = numpy.full(2, rank + 1, numpy.int64), numpy.zeros(2, numpy.int64)
    every, part = numpy.zeros(2 * size, numpy.int64), numpy.zeros(2, numpy.int64)
    numba_mpi.allreduce(own, found, numba_mpi.Operator.MAX)
    numba_mpi.allgather(own, every, 2)
    numba_mpi.scatter(every, part, 2, 0)
    numba_mpi.barrier()
    if rank == 0:
        numba_mpi.send(own, 1, 3)
    if rank == 1:
        numba_mpi.recv(part, 0, 3)
    return found, every, part


print(numba_mpi.rank(), numba_mpi.size(), shifted(5), *together(), numba_mpi.initialized())

"""numba-mpi: messages from within compiled code."""

import numba
import numba_mpi
import numpy


@numba.njit
def total():
    mine = numpy.array([float(numba_mpi.rank() + 1)])
    both = numpy.empty_like(mine)
    numba_mpi.allreduce(mine, both, numba_mpi.Operator.SUM)
    return both[0]


print(numba_mpi.rank(), numba_mpi.size(), total())

"""mpipool: an executor whose answers a thread awaits."""

from mpi4py.MPI import COMM_WORLD
from mpipool import MPIExecutor


def square(number):
    return number * number


with MPIExecutor() as pool:
    pool.workers_exit()
    print(sum(future.result() for future in [pool.submit(square, k) for k in range(20)]))
COMM_WORLD.Barrier()
print("ends", COMM_WORLD.rank)

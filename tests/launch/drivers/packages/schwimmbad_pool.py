"""schwimmbad: a pool of MPI processes maps tasks."""

import sys

from schwimmbad import MPIPool


def work(task):
    a, b = task
    return a * b


with MPIPool() as pool:
    if not pool.is_master():
        pool.wait()
        sys.exit(0)
    print(list(pool.map(work, [(k, k + 1) for k in range(20)])))

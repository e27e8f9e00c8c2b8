"""adaptive: a learner asks a pool of workers for points."""

import adaptive
from mpi4py.futures import MPICommExecutor


def peak(x):
    return x + 0.01**2 / (0.01**2 + x**2)


with MPICommExecutor() as executor:
    if executor is not None:
        learner = adaptive.Learner1D(peak, bounds=(-1, 1))
        adaptive.BlockingRunner(learner, executor=executor, npoints_goal=30, ntasks=1)
        print(learner.npoints >= 30, f"{learner.data[1]:.9f}")

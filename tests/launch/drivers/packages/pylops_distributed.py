"""pylops-mpi: distributed arrays, and a least-squares problem whose blocks lie on the ranks."""

import numpy as np
import pylops
import pylops_mpi
from mpi4py import MPI
from pylops.utils import deps

rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size

x = pylops_mpi.DistributedArray(global_shape=4 * size, partition=pylops_mpi.Partition.SCATTER)
x[:] = np.arange(4) + 4 * rank
print(rank, x.local_shape, float(x.dot(x)), float(np.ravel(x.norm())[0]))
block = pylops.MatrixMult((rank + 2) * np.eye(4) + np.ones((4, 4)))
operator = pylops_mpi.MPIBlockDiag(ops=[block])
y = operator @ x
start = pylops_mpi.DistributedArray(global_shape=4 * size)
start[:] = 0
found = pylops_mpi.cgls(operator, y, x0=start, niter=20)[0]
print(rank, y.local_array.tolist(), (np.round(found.asarray(), 6) + 0.0).tolist())
print(rank, deps.jax_enabled)

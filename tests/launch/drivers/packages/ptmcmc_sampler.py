"""PTMCMCSampler: parallel tempering, a temperature a rank."""

import tempfile

import numpy as np
from mpi4py import MPI
from PTMCMCSampler import PTMCMCSampler

comm = MPI.COMM_WORLD
folder = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
sampler = PTMCMCSampler.PTSampler(
    2,
    lambda x: -0.5 * float(np.sum(x**2)),
    lambda x: 0.0 if np.all(np.abs(x) < 10) else -np.inf,
    np.eye(2),
    outDir=folder,
    verbose=False,
    seed=7,
)
sampler.sample(np.ones(2), 400, burn=50, thin=1, Tmin=1, isave=50, covUpdate=50)
comm.Barrier()
if comm.rank == 0:
    chain = np.loadtxt(f"{folder}/chain_1.0.txt")
    print(chain.shape, f"{chain[:, :2].sum():.9f}")

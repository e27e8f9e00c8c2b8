"""zeus: a slice sampler whose probabilities are computed by a pool."""

import random
import sys

import numpy as np
import zeus
from schwimmbad import MPIPool


def log_probability(place):
    return -0.5 * float(np.sum(place**2))


with MPIPool() as pool:
    if not pool.is_master():
        pool.wait()
        sys.exit(0)
    random.seed(5)  # its moves draw by both
    np.random.seed(42)
    start = np.random.randn(8, 2)
    sampler = zeus.EnsembleSampler(8, 2, log_probability, pool=pool, verbose=False)
    sampler.run_mcmc(start, 20, progress=False)
    chain = sampler.get_chain(flat=True)
    print(chain.shape, f"{chain.sum():.12f}", sampler.ncall)

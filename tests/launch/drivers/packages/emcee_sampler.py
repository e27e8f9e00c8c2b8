"""emcee: walkers' probabilities are computed by a pool."""

import sys

import emcee
import numpy as np
from schwimmbad import MPIPool


def log_probability(place):
    return -0.5 * float(np.sum(place**2))


with MPIPool() as pool:
    if not pool.is_master():
        pool.wait()
        sys.exit(0)
    np.random.seed(42)
    start = np.random.randn(8, 3)
    sampler = emcee.EnsembleSampler(8, 3, log_probability, pool=pool)
    sampler.run_mcmc(start, 30)
    chain = sampler.get_chain(flat=True)
    print(chain.shape, f"{chain.sum():.12f}", f"{sampler.acceptance_fraction.mean():.6f}")

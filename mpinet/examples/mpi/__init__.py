"""Small mpi4py scripts, for ``mpinet exec`` and ``mpirun``."""

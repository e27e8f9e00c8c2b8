"""Native code: where it comes from and how it is called. Nothing here imports Numba."""
